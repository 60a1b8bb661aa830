import { deleteExpiredRows } from '../../store/gate/expired-rows.ts'
import { deleteInBatches } from '../../store/delete-in-batches.ts'
import type { LivenessSessionsOptions } from './session-options.ts'
import { failureWindowMs } from './start-attempt.ts'

/** Deletes expired challenges, and sessions with their reference frames. @returns the number. */
export async function sweepSessions({
  store,
  clock,
}: Pick<LivenessSessionsOptions, 'store' | 'clock'>): Promise<number> {
  const nowMs = clock()
  const challengeCount = await deleteInBatches(store, (tx, limit) =>
    deleteExpiredRows(tx, 'livenessChallenges', { beforeMs: nowMs - failureWindowMs, limit }),
  )
  const sessionCount = await deleteInBatches(store, (tx, limit) =>
    deleteExpiredRows(tx, 'livenessSessions', { beforeMs: nowMs, limit }),
  )
  return challengeCount + sessionCount
}
