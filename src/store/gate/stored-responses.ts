import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadTx, type Store, type Tx, sql } from '../database.ts'
import { stepRows } from '../lists.ts'
import type { CallRow } from '../schema.ts'

/** Replaces stored responses that name the subject, by default all, by their versions without subjects. */
export async function scrubResponses(tx: Tx, subjectId: string, limit?: number): Promise<void> {
  const named = tx.build
    .selectFrom('responseSubjects')
    .select(['projectId', 'requestId'])
    .where('subjectId', '=', subjectId)
    .orderBy('projectId')
    .orderBy('requestId')
  const page = limit === undefined ? named : named.limit(limit)
  const isNamed = sql<boolean>`("projectId", "requestId") in ${page}`
  const scrubbed = { response: sql<Uint8Array>`coalesce(scrubbed, response)`, scrubbed: null }
  await tx.run(tx.build.updateTable('attempts').set(scrubbed).where(isNamed))
  const names = tx.build.deleteFrom('responseSubjects').where('subjectId', '=', subjectId)
  await tx.run(names.where(isNamed))
}

/** Returns whether more than `limit` stored responses name the subject. */
export async function namesMoreThan(tx: ReadTx, subjectId: string, limit: number) {
  const query = tx.build
    .selectFrom('responseSubjects')
    .select('requestId')
    .where('subjectId', '=', subjectId)
  return (await tx.run(query.limit(1).offset(limit))).length > 0
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

/** Adds up the newest `stepRows` responses before a start, and those that began with the last of them. */
export function addStoredBytes(tx: ReadTx, { projectId, beforeMs, restBytes }: BytesStep) {
  const stored = tx.build
    .selectFrom('attempts')
    .where('projectId', '=', projectId)
    .where('response', 'is not', null)
    .where('windowStartMs', '<', beforeMs)
    .orderBy('windowStartMs', 'desc')
  const last = stored.select('windowStartMs').offset(stepRows - 1)
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
