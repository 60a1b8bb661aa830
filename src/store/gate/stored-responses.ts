import { type ReadTx, type Tx, sql } from '../database.ts'
import type { CallRow } from '../schema.ts'

/** Replaces every stored response that names the subject by its version without subjects. */
export async function scrubResponses(tx: Tx, subjectId: string): Promise<void> {
  const namesSubject = sql<boolean>`("projectId", "requestId") in
    (select "projectId", "requestId" from "responseSubjects" where "subjectId" = ${subjectId})`
  const scrubbed = { response: sql<Uint8Array>`coalesce(scrubbed, response)`, scrubbed: null }
  await tx.run(tx.build.updateTable('attempts').set(scrubbed).where(namesSubject))
  await tx.run(tx.build.deleteFrom('responseSubjects').where('subjectId', '=', subjectId))
}

/**
 * Returns the latest start of a response that is beyond the limit when the responses of the project are
 * added up from the newest to the oldest; undefined if all are within the limit.
 */
export async function findExcess(tx: ReadTx, projectId: string, bytesMax: number) {
  const stored = tx.build
    .selectFrom('attempts')
    .select([
      'windowStartMs',
      sql<number>`sum(length(response) + coalesce(length(scrubbed), 0))
        over (order by "windowStartMs" desc, "requestId")`.as('bytes'),
    ])
    .where('projectId', '=', projectId)
    .where('response', 'is not', null)
  const query = tx.build
    .selectFrom(stored.as('stored'))
    .select('windowStartMs')
    .where('bytes', '>', bytesMax)
    .orderBy('windowStartMs', 'desc')
    .limit(1)
  return (await tx.run(query))[0]?.windowStartMs
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
