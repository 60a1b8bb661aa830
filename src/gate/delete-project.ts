import { setTimeout as delay } from 'node:timers/promises'
import { allocate } from '../billing/ledger.ts'
import { formatUtc, type Clock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { AuditLogEntry } from '../store/console/audit-log.ts'
import type { ExclusiveTransaction, ReadTx, Store, Tx } from '../store/database.ts'
import { deleteInBatches } from '../store/delete-in-batches.ts'
import { countCrops, removeCrops } from '../store/gallery/crops.ts'
import * as nearMisses from '../store/gallery/feedback/near-miss-crops.ts'
import { findGallery } from '../store/gallery/galleries.ts'
import { countProjectVisitors } from '../store/gallery/visitors.ts'
import { countKeys } from '../store/tenancy/key-list.ts'
import * as deletion from '../store/tenancy/project-deletion.ts'
import { type ProjectSummary, findProjectSummaries } from '../store/tenancy/project-summaries.ts'
import { updateProject } from '../store/tenancy/projects.ts'
import { findWebhooks, removeDeletedWebhooks } from '../store/webhooks/webhooks.ts'

export type ProjectToDelete = Pick<ProjectSummary, 'projectId' | 'accountId' | 'name'>

export type ProjectContents = Awaited<ReturnType<typeof findContents>>

/** Counts what the deletion of a project deletes. */
export async function findContents(tx: ReadTx, project: ProjectToDelete, now: Date) {
  const { accountId, projectId } = project
  const keys = await countKeys(tx, { accountId, projectId, state: 'active', now })
  return {
    // In the separate gallery, also while the project uses the shared one.
    subjects: (await findGallery(tx, projectId))?.subjectCount ?? 0,
    visitors: (await countProjectVisitors(tx, { projectId })).total,
    crops: (await countCrops(tx, projectId)).total,
    keys: keys.total,
    webhooks: (await findWebhooks(tx, { accountId, projectId })).length,
  }
}

/**
 * Ends all access to a project: the first step of its deletion.
 *
 * @throws HttpError 409 if no other project uses the shared gallery, and it has subjects.
 */
export async function beginDeletion(
  { db, tx }: ExclusiveTransaction,
  project: ProjectToDelete,
  nowMs: number,
): Promise<ProjectContents> {
  const { accountId, projectId } = project
  const sharing = (await findProjectSummaries(tx, accountId)).filter(
    ({ galleryId }) => galleryId === accountId,
  )
  const [last, ...others] = sharing
  if (last?.projectId === projectId && others.length === 0 && last.subjectCount > 0)
    throw new HttpError(
      409,
      `The shared gallery of the account has ${last.subjectCount} subjects, and ${project.name} is the last project that uses it. Create another project with the shared gallery, or delete the subjects first.`,
    )
  const contents = await findContents(tx, project, new Date(nowMs))
  const change = { switches: { nearMissCrops: false, matchDays: false } }
  await updateProject(db, projectId, change)
  // Before the webhooks are ended: a call with this lock may add deliveries to them.
  await nearMisses.limitNearMisses(tx, projectId, change)
  await deletion.endAccess(db, projectId, formatUtc(nowMs))
  return contents
}

/** Running calls usually end within their timeout, which is shorter by default. */
const waitMsMax = 120_000
const pollMs = 200

type Deletion = {
  readonly store: Store
  readonly project: ProjectToDelete
  readonly clock: Clock
  /** Deletes all subjects of a gallery. */
  readonly clear: (galleryId: string) => Promise<unknown>
  /** Deletes all visitors of a project. */
  readonly clearVisitors: (projectId: string) => Promise<unknown>
  /** Adds an entry to the audit log, in the transaction of its change. */
  readonly addEntry: (
    tx: Tx,
    entry: Pick<AuditLogEntry, 'auditAction' | 'target'> & {
      readonly detail: Record<string, string>
    },
  ) => Promise<void>
}

/**
 * Deletes a project after `beginDeletion`, when its running calls have ended. Each step can be
 * repeated, so a new deletion continues an interrupted one.
 *
 * @returns the amount that was returned to the wallet.
 * @throws HttpError 409 if calls of the project still run after two minutes.
 */
export async function deleteProject(options: Deletion): Promise<bigint> {
  const { store, project, clear, clearVisitors } = options
  const { projectId } = project
  const endMs = performance.now() + waitMsMax
  for (;;) {
    await clear(projectId)
    await clearVisitors(projectId)
    for (const table of [
      'attempts',
      'livenessFrames',
      'livenessSessions',
      'matchVerdicts',
    ] as const)
      await deleteInBatches(store, (tx) => deletion.deleteProjectRows(tx, table, projectId))
    await removeDeletedWebhooks(store)
    await removeCrops(store, projectId)
    await nearMisses.removeEndedData(store, options.clock())
    const end = (change: ExclusiveTransaction) => endProject(change, options)
    const returnedMicros = await store.runExclusive(end, options.project.accountId)
    if (returnedMicros !== undefined) return returnedMicros
    if (performance.now() > endMs) throw new HttpError(409, callsStillRun)
    await delay(pollMs)
  }
}

const callsStillRun =
  'Calls of the project still run, so its deletion is not complete. Repeat the deletion later. A running service ends the calls of servers that were killed.'

/** Returns undefined if calls run, or data was added meanwhile. */
async function endProject(change: ExclusiveTransaction, { project, clock, addEntry }: Deletion) {
  const { db, tx } = change
  const { projectId } = project
  const nowMs = clock()
  // Waits for the admissions of the project, which lock its bucket, and prevents further ones.
  await tx.updateBucket({ projectId, fullAtUs: 0 })
  const { subjects, visitors, crops } = await beginDeletion(change, project, nowMs)
  if (subjects + visitors + crops > 0 || (await deletion.hasRemainingRows(tx, projectId)))
    return undefined
  const [summary] = await findProjectSummaries(tx, project.accountId, projectId)
  const budgetMicros = summary?.balanceMicros ?? 0n
  if (budgetMicros > 0n) {
    await allocate(tx, project, -budgetMicros, nowMs)
    const detail = { projectId, amountMicros: String(-budgetMicros) }
    await addEntry(tx, { auditAction: 'money.allocate', target: projectId, detail })
  }
  await deletion.markDeleted(db, project, formatUtc(nowMs))
  return budgetMicros
}
