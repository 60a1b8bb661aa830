import { z } from 'zod'
import { describeCameraChange } from '../../lib/observability/camera-changes.ts'
import { findKeys } from '../../store/tenancy/key-list.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import { findReportedKeys } from '../../store/webhooks/camera-changes.ts'
import { findWebhooks } from '../../store/webhooks/webhooks.ts'
import type { DiskUsage } from '../pages/system/server-report.ts'
import { dayMs, weekMs } from '../../lib/clock.ts'

export const accountAlert = z.object({
  kind: z.enum([
    'keyExpiring',
    'keyExpired',
    'budgetLow',
    'budgetEmpty',
    'webhookFailing',
    'cameraChanged',
    'diskLow',
  ]),
  severity: z.enum(['info', 'warning', 'critical']),
  text: z.string(),
  projectId: z.string().optional(),
  keyId: z.string().optional(),
})

export type AccountAlert = z.output<typeof accountAlert>

export type AlertInput = {
  readonly accountId: string
  /** Leaves out the keys and webhooks of other projects. */
  readonly projectId?: string | undefined
  readonly projects: readonly ProjectSummary[]
  /** Without it, the disk is not checked. */
  readonly disk?: Pick<DiskUsage, 'freeBytes'>
  readonly nowMs: number
}

const keyExpiringMs = 14 * dayMs
const keyExpiredMs = 7 * dayMs
const keysMax = 1000
const webhookFailingMs = 3_600_000

/** A budget is low when at least four fifths of its allocations are spent. */
const budgetLowDivisor = 5n

/** Free disk space: below the first value the service is not ready; the second is a warning. */
const diskEmptyBytes = 1024 ** 3
const diskLowBytes = 5 * 1024 ** 3

/** Returns what needs attention, the most severe alerts first. */
export async function findAlerts(tx: ReadTx, input: AlertInput): Promise<AccountAlert[]> {
  const alerts = [
    ...(input.disk ? diskAlerts(input.disk) : []),
    ...budgetAlerts(input),
    ...(await keyAlerts(tx, input)),
    ...(await webhookAlerts(tx, input)),
    ...(await cameraAlerts(tx, input)),
  ]
  const order = ['critical', 'warning', 'info']
  return alerts.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}

export function diskAlerts({ freeBytes }: Pick<DiskUsage, 'freeBytes'>): AccountAlert[] {
  if (freeBytes >= diskLowBytes) return []
  const severity = freeBytes < diskEmptyBytes ? 'critical' : 'warning'
  const free = (freeBytes / 1024 ** 3).toFixed(1)
  return [{ kind: 'diskLow', severity, text: `Only ${free} GiB of disk space is free.` }]
}

function budgetAlerts({ projects }: AlertInput): AccountAlert[] {
  const billed = projects.filter(({ billing }) => billing === 1)
  return billed.flatMap(({ projectId, name, balanceMicros, allocatedMicros }): AccountAlert[] => {
    if (balanceMicros === 0n)
      return [
        {
          kind: 'budgetEmpty',
          severity: allocatedMicros > 0n ? 'critical' : 'info',
          text: `${name} has no budget. Its calls are rejected.`,
          projectId,
        },
      ]
    if (balanceMicros * budgetLowDivisor > allocatedMicros) return []
    const text = `${name} has spent at least 80 % of its budget.`
    return [{ kind: 'budgetLow', severity: 'warning', text, projectId }]
  })
}

async function keyAlerts(tx: ReadTx, { accountId, projectId, nowMs }: AlertInput) {
  const now = new Date(nowMs)
  const keys = await findKeys(tx, { accountId, projectId, now, limit: keysMax })
  return keys.flatMap(
    ({ keyId, name, projectId, projectName, state, expiresAtUtc }): AccountAlert[] => {
      if (expiresAtUtc === null || state === 'revoked') return []
      const leftMs = Date.parse(expiresAtUtc) - nowMs
      const ids = { projectId, keyId }
      const keyText = `The key ${name} of ${projectName}`
      if (state === 'expired')
        return leftMs < -keyExpiredMs
          ? []
          : [{ kind: 'keyExpired', severity: 'critical', text: `${keyText} has expired.`, ...ids }]
      if (leftMs > keyExpiringMs) return []
      const days = Math.ceil(leftMs / dayMs)
      const text = `${keyText} expires in ${days} ${days === 1 ? 'day' : 'days'}.`
      return [{ kind: 'keyExpiring', severity: 'warning', text, ...ids }]
    },
  )
}

/** Webhooks that have not accepted an event for an hour. */
async function webhookAlerts(tx: ReadTx, { accountId, projectId, nowMs }: AlertInput) {
  const webhooks = await findWebhooks(tx, { accountId, projectId })
  return webhooks.flatMap(({ projectId, projectName, url, failingSinceMs }): AccountAlert[] => {
    if (failingSinceMs === null || nowMs - failingSinceMs < webhookFailingMs) return []
    const text = `The webhook ${new URL(url).hostname} of ${projectName} does not accept events.`
    return [{ kind: 'webhookFailing', severity: 'warning', text, projectId }]
  })
}

/** Keys whose pictures or matches became worse in the last week. */
async function cameraAlerts(tx: ReadTx, { accountId, projectId, nowMs }: AlertInput) {
  const keys = await findReportedKeys(tx, { accountId, projectId, sinceMs: nowMs - weekMs })
  return keys.map(({ keyId, projectId, name, projectName, changes }): AccountAlert => {
    const text = `The key ${name} of ${projectName}: ${changes.map(describeCameraChange).join('; ')}.`
    return { kind: 'cameraChanged', severity: 'warning', text, projectId, keyId }
  })
}
