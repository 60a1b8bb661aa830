import type { CallRow } from '../schema.ts'
import type { ReadTx } from '../tx.ts'

/** What the gate still remembers of a call, without its answer. */
export type AttemptStatus = {
  readonly state: 'running' | 'done'
  readonly startedAtUtc: string
  /** Whether a retry with the same id and content would get the stored answer. */
  readonly answerKept: boolean
}

/** The attempt at a call's request; undefined once it is forgotten, or if there never was one. */
export async function findAttemptStatus(
  reading: ReadTx,
  { projectId, requestId }: Pick<CallRow, 'projectId' | 'requestId'>,
): Promise<AttemptStatus | undefined> {
  const query = reading.build
    .selectFrom('attempts')
    .select(['state', 'windowStartMs'])
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId.toLowerCase())
  const [found] = await reading.run(query)
  if (!found) return undefined
  const { state, windowStartMs } = found
  const startedAtUtc = new Date(windowStartMs).toISOString()
  return { state, startedAtUtc, answerKept: state === 'done' }
}
