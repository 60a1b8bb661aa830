import { type ReadTx, sql } from '../database.ts'
import type { CallRow } from '../schema.ts'

/** The stored state of an attempt, without its response. */
export type AttemptStatus = {
  readonly state: 'running' | 'done'
  readonly startedAtUtc: string
  /** Whether a retry with the same id and content would receive the stored response. */
  readonly isResponseStored: boolean
}

/** Finds the attempt of a request; undefined if it was deleted or never existed. */
export async function findAttemptStatus(
  tx: ReadTx,
  { projectId, requestId }: Pick<CallRow, 'projectId' | 'requestId'>,
): Promise<AttemptStatus | undefined> {
  const query = tx.build
    .selectFrom('attempts')
    .select(['state', 'windowStartMs', sql`response is not null`.as('isStored')])
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId.toLowerCase())
  const [found] = await tx.run(query)
  if (!found) return undefined
  const { state, windowStartMs, isStored } = found
  const startedAtUtc = new Date(windowStartMs).toISOString()
  return { state, startedAtUtc, isResponseStored: Boolean(isStored) }
}
