import { findKeys } from '../../store/tenancy/key-list.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/tx.ts'
import type { ServerStatus } from '../services.ts'

export type AccountAlert = {
  readonly kind: 'keyExpiring' | 'keyExpired' | 'budgetLow' | 'budgetEmpty' | 'diskLow'
  readonly severity: 'info' | 'warning' | 'critical'
  readonly text: string
  readonly projectId?: string
  readonly keyId?: string
}

export type AlertInput = {
  readonly accountId: string
  readonly projects: readonly ProjectSummary[]
  readonly disk: ServerStatus['disk']
  readonly nowMs: number
}

const dayMs = 86_400_000
const keyExpiringMs = 14 * dayMs
const keyExpiredMs = 7 * dayMs
const keysMax = 1000

/** A budget is low when four fifths of what it was given are spent. */
const budgetLowDivisor = 5n

/** Below the first the service is not ready; below the other there is time left to act. */
const diskEmptyBytes = 1024 ** 3
const diskLowBytes = 5 * 1024 ** 3

/** What somebody should look after, the worst first. */
export async function findAlerts(reading: ReadTx, watched: AlertInput): Promise<AccountAlert[]> {
  const alerts = [
    ...diskAlerts(watched),
    ...budgetAlerts(watched),
    ...(await keyAlerts(reading, watched)),
  ]
  const order = ['critical', 'warning', 'info']
  return alerts.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}

function diskAlerts({ disk: { freeBytes } }: AlertInput): AccountAlert[] {
  if (freeBytes >= diskLowBytes) return []
  const severity = freeBytes < diskEmptyBytes ? 'critical' : 'warning'
  const free = (freeBytes / 1024 ** 3).toFixed(1)
  return [{ kind: 'diskLow', severity, text: `Only ${free} GiB of disk are free.` }]
}

function budgetAlerts({ projects }: AlertInput): AccountAlert[] {
  return projects.flatMap(({ projectId, name, balanceMicros, allocatedMicros }): AccountAlert[] => {
    if (balanceMicros === 0n)
      return [
        {
          kind: 'budgetEmpty',
          severity: allocatedMicros > 0n ? 'critical' : 'info',
          text: `${name} has no budget: its calls are refused.`,
          projectId,
        },
      ]
    if (balanceMicros * budgetLowDivisor > allocatedMicros) return []
    const text = `${name} has spent four fifths of its budget.`
    return [{ kind: 'budgetLow', severity: 'warning', text, projectId }]
  })
}

async function keyAlerts(
  reading: ReadTx,
  { accountId, nowMs }: AlertInput,
): Promise<AccountAlert[]> {
  const now = new Date(nowMs)
  const keys = await findKeys(reading, { accountId, now, limit: keysMax })
  return keys.flatMap(
    ({ keyId, name, projectId, projectName, state, expiresAtUtc }): AccountAlert[] => {
      if (expiresAtUtc === null || state === 'revoked') return []
      const leftMs = Date.parse(expiresAtUtc) - nowMs
      const whose = { projectId, keyId }
      const what = `The key ${name} of ${projectName}`
      if (state === 'expired')
        return leftMs < -keyExpiredMs
          ? []
          : [{ kind: 'keyExpired', severity: 'critical', text: `${what} has expired.`, ...whose }]
      if (leftMs > keyExpiringMs) return []
      const text = `${what} expires in ${Math.ceil(leftMs / dayMs)} days.`
      return [{ kind: 'keyExpiring', severity: 'warning', text, ...whose }]
    },
  )
}
