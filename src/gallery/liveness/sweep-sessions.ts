import { deleteExpiredChallenges } from '../../store/gate/liveness-challenges.ts'
import { deleteExpiredLivenessSessions } from '../../store/gate/liveness-sessions.ts'
import { deleteInBatches } from './delete-in-batches.ts'
import type { LivenessSessionsOptions } from './session-options.ts'
import { failureWindowMs } from './start-attempt.ts'

/** Deletes expired challenges, and sessions with their reference frames. @returns the number. */
export async function sweepSessions({
  store,
  clock,
}: Pick<LivenessSessionsOptions, 'store' | 'clock'>): Promise<number> {
  const nowMs = clock()
  const challengeCount = await deleteInBatches(store, (tx, limit) =>
    deleteExpiredChallenges(tx, { beforeMs: nowMs - failureWindowMs, limit }),
  )
  const sessionCount = await deleteInBatches(store, (tx, limit) =>
    deleteExpiredLivenessSessions(tx, { beforeMs: nowMs, limit }),
  )
  return challengeCount + sessionCount
}
