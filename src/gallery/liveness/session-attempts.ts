import { findOpenChallenge, spendChallenge } from '../../store/gate/liveness-challenges.ts'
import {
  addFrame,
  findLivenessSession,
  updateLivenessSession,
} from '../../store/gate/liveness-sessions.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import type { Keyring } from '../keys/keyring.ts'
import { encryptFrame } from '../keys/session-secrets.ts'
import { sessionLifeMs, type LivenessSessionsOptions } from './session-options.ts'
import { startAttempt } from './start-attempt.ts'
import type { AngleRange, ChallengeStep } from '../../lib/liveness/challenge-steps.ts'

/** The requested movements of a session that one call can show until they expire. */
export type Attempt = {
  readonly challengeId: string
  readonly sessionId: string
  readonly projectId: string
  readonly steps: readonly ChallengeStep[]
  /** Of each step; empty: any angle from the limit of the step on. */
  readonly angles: readonly AngleRange[]
  readonly expiresAtMs: number
}

/** How an attempt ended. */
export type AttemptResult = {
  readonly decision: 'live' | 'spoof' | 'uncertain'
  readonly reasons: readonly string[]
  /** Why it failed, for the person; one for each step that was not shown. */
  readonly causes: readonly AttemptCause[]
  /** The reference frame; only of a live person. */
  readonly frame?: EncodedImage | undefined
}

/** One code that a person can act on. */
export type AttemptCause = {
  readonly cause: string
  /** The step; null: the whole attempt. */
  readonly step: ChallengeStep | null
  /** Degrees that the head moved, and the limit: for MOVED_TOO_LITTLE and MOVED_TOO_FAR. */
  readonly degrees?: number
  readonly degreesMin?: number
  readonly degreesMax?: number
}

/** Finds the open attempt of a session. */
export async function findAttempt(
  tx: ReadTx,
  key: { readonly projectId: string; readonly sessionId: string; readonly nowMs: number },
): Promise<Attempt | undefined> {
  const found = await findOpenChallenge(tx, key)
  // `startAttempt` has written the steps.
  return found && { ...found, ...(JSON.parse(found.steps) as Pick<Attempt, 'steps' | 'angles'>) }
}

/** @returns false if the attempt is not open: of concurrent calls only one spends it. */
export async function spendAttempt(
  tx: Tx,
  attempt: Attempt,
  { frame, ...result }: AttemptResult,
  options: LivenessSessionsOptions & { readonly keyring: Keyring },
): Promise<boolean> {
  const { projectId, sessionId, challengeId } = attempt
  const nowMs = options.clock()
  const isPassed = result.decision === 'live'
  const failed = isPassed ? 0 : 1
  if (!(await spendChallenge(tx, { projectId, challengeId, nowMs, failed }))) return false
  const session = await findLivenessSession(tx, { projectId, sessionId, nowMs })
  if (!session) return false
  const attemptsLeft = isPassed ? session.attemptsLeft : session.attemptsLeft - 1
  const expiresAtMs = nowMs + sessionLifeMs
  await updateLivenessSession(tx, session, {
    attemptsLeft,
    state: isPassed ? 'passed' : attemptsLeft > 0 ? 'open' : 'failed',
    result: JSON.stringify(result),
    expiresAtMs,
  })
  if (frame) {
    const row = { sessionId, projectId, expiresAtMs }
    const encrypted = encryptFrame(options.keyring, session, toBytes(frame))
    await addFrame(tx, { ...row, frame: encrypted }, options.frameBytesMax)
  }
  if (!isPassed && attemptsLeft > 0) await startAttempt(tx, session, options)
  return true
}

function toBytes({ contentType, bytes }: EncodedImage): Buffer {
  return Buffer.concat([Buffer.from(`${contentType}\n`), Buffer.from(bytes, 'base64')])
}
