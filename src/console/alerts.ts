import { findKeys } from '../store/key-pages.ts'
import type { ProjectFacts } from '../store/project-facts.ts'
import type { Reading } from '../store/tx.ts'
import type { SystemFacts } from './services.ts'

export type Alert = {
  readonly kind: 'keyExpiring' | 'keyExpired' | 'budgetLow' | 'budgetEmpty' | 'diskLow'
  readonly severity: 'info' | 'warning' | 'critical'
  readonly text: string
  readonly projectId?: string
  readonly keyId?: string
}

export type Watched = {
  readonly accountId: string
  readonly projects: readonly ProjectFacts[]
  readonly disk: SystemFacts['disk']
  readonly nowMs: number
}

const dayMs = 86_400_000
const expiringMs = 14 * dayMs
const expiredMs = 7 * dayMs
const keysMax = 1000

/** A budget is low when four fifths of what it was given are spent. */
const lowShare = 5n

/** Below the first the service is not ready; below the other there is time left to act. */
const diskEmptyBytes = 1024 ** 3
const diskLowBytes = 5 * 1024 ** 3

/** What somebody should look after, the worst first. */
export async function alertsOf(reading: Reading, watched: Watched): Promise<Alert[]> {
  const alerts = [
    ...diskAlerts(watched),
    ...budgetAlerts(watched),
    ...(await keyAlerts(reading, watched)),
  ]
  const order = ['critical', 'warning', 'info']
  return alerts.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}

function diskAlerts({ disk: { freeBytes } }: Watched): Alert[] {
  if (freeBytes >= diskLowBytes) return []
  const severity = freeBytes < diskEmptyBytes ? 'critical' : 'warning'
  const free = (freeBytes / 1024 ** 3).toFixed(1)
  return [{ kind: 'diskLow', severity, text: `Only ${free} GiB of disk are free.` }]
}

function budgetAlerts({ projects }: Watched): Alert[] {
  return projects.flatMap(({ projectId, name, balanceMicros, allocatedMicros }): Alert[] => {
    if (balanceMicros === 0n)
      return [
        {
          kind: 'budgetEmpty',
          severity: allocatedMicros > 0n ? 'critical' : 'info',
          text: `${name} has no budget: its calls are refused.`,
          projectId,
        },
      ]
    if (balanceMicros * lowShare > allocatedMicros) return []
    const text = `${name} has spent four fifths of its budget.`
    return [{ kind: 'budgetLow', severity: 'warning', text, projectId }]
  })
}

async function keyAlerts(reading: Reading, { accountId, nowMs }: Watched): Promise<Alert[]> {
  const now = new Date(nowMs)
  const keys = await findKeys(reading, { accountId, now, limit: keysMax })
  return keys.flatMap(({ keyId, name, projectId, projectName, state, expiresAtUtc }): Alert[] => {
    if (expiresAtUtc === null || state === 'revoked') return []
    const leftMs = Date.parse(expiresAtUtc) - nowMs
    const whose = { projectId, keyId }
    const what = `The key ${name} of ${projectName}`
    if (state === 'expired')
      return leftMs < -expiredMs
        ? []
        : [{ kind: 'keyExpired', severity: 'critical', text: `${what} has expired.`, ...whose }]
    if (leftMs > expiringMs) return []
    const text = `${what} expires in ${Math.ceil(leftMs / dayMs)} days.`
    return [{ kind: 'keyExpiring', severity: 'warning', text, ...whose }]
  })
}
