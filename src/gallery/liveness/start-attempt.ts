import { ActionError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import {
  addChallenge,
  countOpenChallenges,
  findFailureTimes,
} from '../../store/gate/liveness-challenges.ts'
import type { LivenessSession } from '../../store/gate/liveness-sessions.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import { drawAngles, drawSteps } from './draw-steps.ts'
import type { LivenessSessionsOptions } from './session-options.ts'

/** The time to complete an attempt. */
const attemptLifeMs = 120_000

export const failureWindowMs = 60_000

type SessionToStart = Pick<
  LivenessSession,
  'sessionId' | 'projectId' | 'stepCount' | 'requireAngles'
>

/** Draws the steps of the next attempt of a session. */
export async function startAttempt(
  tx: Tx,
  { sessionId, projectId, stepCount, requireAngles }: SessionToStart,
  { clock, randomInteger }: Pick<LivenessSessionsOptions, 'clock' | 'randomInteger'>,
): Promise<void> {
  const drawn = drawSteps(stepCount, randomInteger)
  const angles = requireAngles ? drawAngles(drawn, randomInteger) : []
  const steps = JSON.stringify({ steps: drawn, angles })
  const expiresAtMs = clock() + attemptLifeMs
  await addChallenge(tx, { challengeId: newId(), sessionId, projectId, steps, expiresAtMs })
}

type FailureLimit = Pick<LivenessSessionsOptions, 'clock' | 'failuresPerMinuteMax'>

/** @throws ActionError RATE_LIMITED until the oldest counted failure leaves the window. */
export async function requireFewFailures(
  reading: ReadTx,
  projectId: string,
  { clock, failuresPerMinuteMax: limit }: FailureLimit,
): Promise<void> {
  const afterMs = clock() - failureWindowMs
  const times = await findFailureTimes(reading, { projectId, afterMs, limit })
  const oldestMs = times[limit - 1]
  if (oldestMs === undefined) return
  const retryAfterS = Math.max(1, Math.ceil((oldestMs - afterMs) / 1000))
  throw new ActionError(
    'RATE_LIMITED',
    `${limit} attempts in liveness sessions of the project failed within 60 s; wait ${retryAfterS} s, or raise LIVENESS_FAILURES_PER_MINUTE_MAX.`,
    { retryAfterS },
  )
}

const openRetryAfterS = 10

/** @throws ActionError RATE_LIMITED at the limit of open sessions. */
export async function requireFewOpen(
  reading: ReadTx,
  projectId: string,
  { clock, openMax }: Pick<LivenessSessionsOptions, 'clock' | 'openMax'>,
): Promise<void> {
  if ((await countOpenChallenges(reading, { projectId, nowMs: clock() })) < openMax) return
  throw new ActionError(
    'RATE_LIMITED',
    `The project has ${openMax} open liveness sessions; complete some, wait until they expire, or raise LIVENESS_SESSIONS_OPEN_MAX.`,
    { retryAfterS: openRetryAfterS },
  )
}
