import type { AngleRange, ChallengeStep } from '../../../lib/liveness/challenge-steps.ts'

/**
 * The measurements of one face that a challenge is judged by: plain data, because it crosses a
 * process border. Requested by `AnalysisRequest.challenge`.
 */
export type ChallengeFacts = {
  /** Degrees. yaw > 0: the nose points to image right; pitch > 0: the nose points up. */
  readonly yaw: number
  readonly pitch: number
  /** x and y of the mesh points of `challengePointIndices`, one after another, px of the frame. */
  readonly points: readonly number[]
  /** Luma of the face in few pixels, base64: to recognize one picture in two frames. */
  readonly fingerprint: string
}

/** One frame of a response to a challenge. */
export type ChallengeFrame = {
  readonly facts: ChallengeFacts
  /** The calibrated similarity of the face to that of the first frame; 1 for the first frame. */
  readonly similarityToFirst: number
  /** The same with the previous frame; 1 for the first frame. */
  readonly similarityToPrevious: number
}

/** Why a challenge was not passed. */
export type ChallengeReason =
  | 'CHALLENGE_NOT_FOLLOWED'
  | 'DIFFERENT_PERSON'
  | 'FLAT_FACE'
  | 'FRAMES_IDENTICAL'

/** The result for one requested step. */
export type ChallengeStepJudgement = {
  readonly step: ChallengeStep
  /** Whether the movement occurred in the requested order and, if an angle was requested, by it. */
  readonly passed: boolean
  /** The frame that shows the step; null if no frame shows it in the requested order. */
  readonly imageIndex: number | null
  /** Degrees: the change against the first frame, in that frame. */
  readonly yaw: number | null
  readonly pitch: number | null
}

export type ChallengeJudgement = {
  readonly passed: boolean
  /** In the requested order. */
  readonly steps: readonly ChallengeStepJudgement[]
  /** Whether all frames show the person of the first frame. */
  readonly samePerson: boolean
  /** Whether a turned face moved like a picture instead of a head. */
  readonly flat: boolean
  /** The requested angle of each step; empty: any from `changeMin` on. */
  readonly angles: readonly AngleRange[]
  /** Degrees: the smallest change of yaw of a turn, and of pitch of a look. */
  readonly changeMin: { readonly turn: number; readonly look: number }
  /** Empty if the challenge was passed; otherwise in the order of the checks. */
  readonly reasons: readonly ChallengeReason[]
}
