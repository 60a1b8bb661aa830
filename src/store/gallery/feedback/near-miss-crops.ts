import { formatUtc, hourMs } from '../../../lib/clock.ts'
import { type LockMode, type ReadTx, type Store, type Tx, sql } from '../../database.ts'
import {
  ManyRowsError,
  batchRows,
  deleteBatch,
  deleteInBatches,
  isInBatch,
} from '../../delete-in-batches.ts'
import type { NearMissCropRow } from '../../gallery-schema.ts'
import { countListed } from '../../lists.ts'
import { type LoggedCall, readCalls } from '../../gate/calls.ts'
import { deleteExpiredData, endOldest } from '../duplicates/subject-merges.ts'
import type { ProjectChange } from '../../tenancy/projects.ts'
import { hasExpired } from '../expired-subjects.ts'
import { deleteEndedMatchDays } from './match-days.ts'

/**
 * Returns how long a project keeps the crops of near misses; 0: it keeps none. The setting stays the
 * same until the transaction ends.
 */
export async function lockNearMissTime(tx: Tx, projectId: string, mode: LockMode): Promise<number> {
  await tx.lock(`near misses:${projectId}`, mode)
  const query = tx.build.selectFrom('projects').select(['nearMissCrops', 'nearMissHours'])
  const [project] = await tx.run(query.where('projectId', '=', projectId))
  return project?.nearMissCrops === 1 ? project.nearMissHours * hourMs : 0
}

/**
 * The most crops of a project. More would fill the disk, and a change of the setting, a merge or a key
 * rotation would change all of them in one transaction.
 */
export const nearMissesPerProjectMax = 1_000

/** Adds a crop, and ends the oldest ones of the project beyond the limit. */
export async function addNearMissCrop(tx: Tx, crop: NearMissCropRow): Promise<void> {
  const row = { ...crop, requestId: crop.requestId.toLowerCase() }
  await tx.run(tx.build.insertInto('nearMissCrops').values(row))
  await endOldest(tx, 'nearMissCrops', { ownerId: crop.projectId, kept: nearMissesPerProjectMax })
}

/**
 * Applies the setting of a project to the crops that it stored before, if a change contains it. Every
 * change of a project calls it in its transaction. A longer time applies to later calls only.
 */
export async function limitNearMisses(tx: Tx, projectId: string, changed: ProjectChange) {
  const { nearMissHours = changed.switches?.nearMissCrops } = changed
  if (nearMissHours === undefined) return
  const keptMs = await lockNearMissTime(tx, projectId, 'exclusive')
  // Each value has the size of a time: SQLite then overwrites it in its row, and not the crop.
  const ended = sql<number>`-"storedAtMs"`
  const expiresAtMs = keptMs === 0 ? ended : sql<number>`"storedAtMs" + ${sql.lit(keptMs)}`
  const change = tx.build.updateTable('nearMissCrops').set({ expiresAtMs })
  const stored = change.where('projectId', '=', projectId).where(sql<boolean>`"expiresAtMs" > 0`)
  await tx.run(stored.where('expiresAtMs', '>', expiresAtMs))
}

type StoredBefore = { readonly projectId: string; readonly beforeUtc: string }

/** Counts the crops that a project stored up to a time. */
export function countNearMisses(tx: ReadTx, { projectId, beforeUtc }: StoredBefore) {
  const all = tx.build.selectFrom('nearMissCrops').where('projectId', '=', projectId)
  return countListed(tx, all.select('cropId').where('storedAtMs', '<=', Date.parse(beforeUtc)))
}

/** Deletes crops of near misses whose time has ended, and counts of matches that are not kept. */
export async function removeEndedData(store: Store, nowMs: number): Promise<void> {
  const crops = await deleteInBatches(store, (tx) => deleteExpiredData(tx, 'nearMissCrops', nowMs))
  const days = await deleteInBatches(store, (tx) => deleteEndedMatchDays(tx, nowMs, batchRows))
  if (crops + days > 0) await store.checkpoint()
}

/**
 * Deletes the crops of a subject before the transaction that deletes it, if they are more than one batch.
 *
 * @throws ManyRowsError if they are.
 */
export async function requireFewNearMisses(tx: Tx, subjectId: string): Promise<void> {
  const isOwn = sql<boolean>`"subjectId" = ${subjectId}`
  const isLater = sql<boolean>`${isOwn} and not ${isInBatch(tx, 'nearMissCrops', isOwn)}`
  const later = tx.build.selectFrom('nearMissCrops').select('cropId').where(isLater)
  if ((await tx.run(later.limit(1))).length === 0) return
  const step = async (own: Tx) => {
    const count = await deleteBatch(own, 'nearMissCrops', isOwn)
    // After an interruption the subject is still stored: see `markForNewKey`.
    const mark = own.build.updateTable('subjects').set({ needsNewKey: 1 })
    await own.run(mark.where('subjectId', '=', subjectId))
    return count === 0
  }
  throw Object.assign(new ManyRowsError(), { step })
}

/** Finds the crop of a call with the subject that it is encrypted for. */
export async function findNearMiss(tx: ReadTx, call: LoggedCall, nowMs: number) {
  if (call.nearMiss === 0) return undefined
  const { projectId, requestId, atMs } = call
  const query = tx.build
    .selectFrom('nearMissCrops as crop')
    .innerJoin('subjects', 'subjects.subjectId', 'crop.subjectId')
    .selectAll('subjects')
    .select(['cropId', 'storedAtMs', 'expiresAtMs'])
    .where('crop.projectId', '=', projectId)
    .where('requestId', '=', requestId.toLowerCase())
    .where('storedAtMs', '>=', atMs)
    .where('expiresAtMs', '>', nowMs)
    .orderBy('storedAtMs')
  const [found] = await tx.run(query.limit(1))
  if (!found || hasExpired(found, formatUtc(nowMs))) return undefined
  // After the replay window, a later call may have used the id again.
  const period = { fromMs: atMs + 1, toMs: found.storedAtMs + 1 }
  const id = { projectId, requestIdPrefix: requestId }
  const later = { ...id, nearMiss: true, ...period, limit: 1 }
  return (await readCalls(tx, later)).length === 0 ? found : undefined
}

/** Finds a crop by its id, to which it is bound as another crop is to its face. */
export async function findNearMissCrop({ build, run }: ReadTx, { faceId }: { faceId: string }) {
  const query = build.selectFrom('nearMissCrops').select('ciphertext')
  return (await run(query.where('cropId', '=', faceId)))[0]
}

/** Lists the calls whose crops are encrypted for a subject, the oldest first. */
export async function listNearMisses({ build, run }: ReadTx, subjectId: string) {
  const crops = build.selectFrom('nearMissCrops').where('subjectId', '=', subjectId)
  const query = crops.select(['requestId', 'storedAtMs', 'expiresAtMs']).orderBy('storedAtMs')
  return (await run(query)).map(({ requestId, storedAtMs, expiresAtMs }) => ({
    requestId,
    storedAtUtc: formatUtc(storedAtMs),
    expiresAtUtc: formatUtc(expiresAtMs),
  }))
}
