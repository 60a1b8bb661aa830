import { findAuditEntries } from '../../store/console/audit-log.ts'
import { findSecondFactor } from '../../store/console/second-factors.ts'
import { findKeys } from '../../store/tenancy/key-list.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import type { ReadTx } from '../../store/database.ts'
import type { ConsoleContext } from '../server/console-route.ts'

/** The steps of a new installation, in their order. */
export const firstSteps = [
  'secondFactor',
  'firstCall',
  'firstSubject',
  'recommendedModels',
  'backup',
] as const

type InstallationState = {
  readonly projects: readonly ProjectSummary[]
  readonly hasInstalledModels: boolean
}

/** Returns the steps of a new installation; none if all are done. */
export async function findFirstSteps(
  tx: ReadTx,
  { identity, services }: ConsoleContext,
  { projects, hasInstalledModels }: InstallationState,
) {
  const { accountId, userId } = identity
  const factor = userId === null ? undefined : await findSecondFactor(tx, userId)
  const [lastUsed] = await findKeys(tx, {
    accountId,
    now: new Date(services.clock()),
    sort: { by: 'lastUsedAtUtc', isDescending: true },
    limit: 1,
  })
  const backups = { accountId, auditAction: 'database.backup', limit: 1 }
  const isDone = {
    secondFactor: factor?.isConfirmed === 1,
    firstCall: (lastUsed?.lastUsedAtUtc ?? null) !== null,
    firstSubject: projects.some(({ subjectCount }) => subjectCount > 0),
    recommendedModels: hasInstalledModels,
    // PostgreSQL has its own tools for backups.
    backup: services.store.isShared || (await findAuditEntries(tx, backups)).length > 0,
  }
  if (firstSteps.every((step) => isDone[step])) return []
  return firstSteps.map((step) => ({ step, isDone: isDone[step] }))
}
