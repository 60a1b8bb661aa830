import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadTx, type Store, type Tx, sql } from '../database.ts'
import { ManyRowsError, batchBytes, deleteBatch, isInBatch } from '../delete-in-batches.ts'
import type { CallRow } from '../schema.ts'
import { isUnfrozen } from '../tenancy/projects.ts'

/** Responses per transaction: those of a camera that matches one person for a day take seconds. */
const scrubRowsMax = 100

/** The bytes of the responses that a deletion replaces itself. It can delete several subjects. */
const deletionBytesMax = batchBytes / 16

/**
 * Replaces the stored responses that name the subject by their versions without subjects, in the
 * transaction that deletes it.
 *
 * @throws ManyRowsError if they are too many for one transaction.
 */
export async function scrubResponses(tx: Tx, subjectId: string): Promise<void> {
  if (await scrubBatch(tx, subjectId, deletionBytesMax)) return
  const step = (own: Tx) => scrubBatch(own, subjectId, batchBytes)
  throw Object.assign(new ManyRowsError(), { step })
}

/** Replaces responses of a subject up to a size, but at least one. @returns whether none is left. */
async function scrubBatch({ build, run }: Tx, subjectId: string, bytesMax: number) {
  const bytes = sql<number>`coalesce(octet_length(response), 0) + coalesce(octet_length(scrubbed), 0)`
  const named = await run(
    build
      .selectFrom('responseSubjects as names')
      .innerJoin('attempts as a', (join) =>
        join
          .onRef('a.projectId', '=', 'names.projectId')
          .onRef('a.requestId', '=', 'names.requestId'),
      )
      .select(['names.projectId', 'names.requestId', bytes.as('bytes')])
      .where('names.subjectId', '=', subjectId)
      .orderBy('names.projectId')
      .orderBy('names.requestId')
      .limit(scrubRowsMax),
  )
  let total = 0
  const end = named.findIndex((row, index) => (total += row.bytes) > bytesMax && index > 0)
  const batch = end < 0 ? named : named.slice(0, end)
  if (batch.length > 0) {
    const ids = batch.map(({ projectId, requestId }) => sql`(${projectId}, ${requestId})`)
    const isOfBatch = sql<boolean>`("projectId", "requestId") in (values ${sql.join(ids)})`
    const scrubbed = { response: sql<Uint8Array>`coalesce(scrubbed, response)`, scrubbed: null }
    await run(build.updateTable('attempts').set(scrubbed).where(isOfBatch))
    // On PostgreSQL, a response may have been stored since that statement.
    const isScrubbed = sql<boolean>`exists (select 1 from attempts a where a.scrubbed is null
      and a."projectId" = names."projectId" and a."requestId" = names."requestId")`
    const names = build.deleteFrom('responseSubjects as names').where('subjectId', '=', subjectId)
    await run(names.where(isOfBatch).where(isScrubbed).returning('requestId'))
  }
  return batch.length === named.length && named.length < scrubRowsMax
}

/** Deletes a batch of completed attempts that began at that time or earlier. @returns the number. */
export function deleteExpiredAttempts(tx: Tx, windowStartMs: number): Promise<number> {
  const isOld = sql<boolean>`state = 'done' and "windowStartMs" <= ${windowStartMs}
    and ${isUnfrozen('attempts')}`
  return deleteBatch(tx, 'attempts', sql`${isOld} order by "windowStartMs"`)
}

/** Drops a batch of responses of a project that began at that time or earlier. @returns the number. */
export async function dropResponses(tx: Tx, projectId: string, throughMs: number) {
  const isStored = sql<boolean>`"projectId" = ${projectId} and "windowStartMs" <= ${throughMs}
    and response is not null order by "windowStartMs"`
  const query = tx.build.updateTable('attempts').set({ response: null, scrubbed: null })
  const ofBatch = query.where(isInBatch(tx, 'attempts', isStored))
  return (await tx.run(ofBatch.returning('requestId'))).length
}

/**
 * Returns the latest start of a response that is beyond the limit when the responses of the project are
 * added up from the newest to the oldest; undefined if all are within the limit. Each step is a read.
 */
export async function findExcess(
  { read }: Pick<Store, 'read'>,
  projectId: string,
  bytesMax: number,
): Promise<number | undefined> {
  for (let beforeMs = Number.MAX_SAFE_INTEGER, restBytes = bytesMax; ;) {
    const step = { projectId, beforeMs, restBytes }
    const [sum] = await read((tx) => addStoredBytes(tx, step))
    if (!sum || sum.firstMs === null || sum.excessMs !== null) return sum?.excessMs ?? undefined
    beforeMs = sum.firstMs
    restBytes -= sum.bytes
    await nextTurn()
  }
}

type BytesStep = {
  readonly projectId: string
  readonly beforeMs: number
  readonly restBytes: number
}

/** Responses that a step adds up. Each is in another page: SQLite reads 1,000 in up to 15 ms. */
const summedRows = 1000

/** Adds up the newest `summedRows` responses before a start, and those that began with the last of them. */
export function addStoredBytes(tx: ReadTx, { projectId, beforeMs, restBytes }: BytesStep) {
  const stored = tx.build
    .selectFrom('attempts')
    .where('projectId', '=', projectId)
    .where('response', 'is not', null)
    .where('windowStartMs', '<', beforeMs)
    .orderBy('windowStartMs', 'desc')
  const last = stored.select('windowStartMs').offset(summedRows - 1)
  const step = stored
    .select('windowStartMs')
    .select(
      sql<number>`sum(length(response) + coalesce(length(scrubbed), 0))
        over (order by "windowStartMs" desc)`.as('bytes'),
    )
    .where(sql<boolean>`"windowStartMs" >= coalesce((${last.limit(1)}), 0)`)
  const query = tx.build
    .selectFrom(step.as('step'))
    .select([
      sql<number | null>`min("windowStartMs")`.as('firstMs'),
      sql<number>`max(bytes)`.as('bytes'),
      sql<number | null>`max(case when bytes > ${restBytes} then "windowStartMs" end)`.as(
        'excessMs',
      ),
    ])
  return tx.run(query)
}

/**
 * Finds the state of the attempt of a request, without its response; undefined if it was deleted or
 * never existed.
 */
export async function findAttemptStatus(
  tx: ReadTx,
  { projectId, requestId }: Pick<CallRow, 'projectId' | 'requestId'>,
) {
  const query = tx.build
    .selectFrom('attempts')
    .select(['state', 'windowStartMs', sql`response is not null`.as('isStored')])
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId.toLowerCase())
  const [found] = await tx.run(query)
  if (!found) return undefined
  const { state, windowStartMs, isStored } = found
  return {
    state,
    startedAtUtc: new Date(windowStartMs).toISOString(),
    /** Whether a retry with the same id and content would receive the stored response. */
    isResponseStored: Boolean(isStored),
  }
}
