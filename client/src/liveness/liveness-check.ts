import type { LivenessSession } from '../contract.ts'

/** A head movement that the service requests; left and right are those of the person. */
export type LivenessStep = LivenessSession['steps'][number]

/** What a person can correct: of a step, or with `step` null of a whole attempt or frame. */
export type LivenessCauses = LivenessSession['causes']
export type LivenessCause = LivenessCauses[number]['cause']

/** The part of a session that the component needs. */
export type SessionProgress = Pick<
  LivenessSession,
  'sessionId' | 'state' | 'attemptsLeft' | 'steps' | 'angles' | 'expiresAtUtc' | 'framesMax'
>

/** How far the head must move in a step, in sessions with `requireAngles`. */
export type RequestedAngle = SessionProgress['angles'][number]

/** A session after an attempt. */
export type JudgedAttempt = SessionProgress & {
  readonly causes: LivenessCauses
  /** Shown if there are no causes: codes of svc.liveness, or the error code of a frame. */
  readonly reasons?: readonly string[] | undefined
}

/** What one frame shows while the person moves. */
export type FrameCheck = {
  /** The pose of the head in degrees; null without exactly one face. */
  readonly face: { readonly yaw: number; readonly pitch: number } | null
  readonly causes: LivenessCauses
}

/** The requests of the component. By default they are sent to the service with the session token. */
export type LivenessTransport = {
  /** Whether `open` can create another session after the end of one. */
  readonly canReopen: boolean
  /** Creates a session, or returns the state of an existing one. */
  readonly open: (signal: AbortSignal) => Promise<SessionProgress>
  /** Sends the frames of an attempt: JPEG, in order, the first frontal. */
  readonly sendFrames: (
    session: SessionProgress,
    frames: readonly Blob[],
    signal: AbortSignal,
  ) => Promise<JudgedAttempt>
  /** Checks one frame; undefined if the service refuses. Absent: no guidance while the person moves. */
  readonly checkFrame?:
    | ((frame: Blob, signal: AbortSignal) => Promise<FrameCheck | undefined>)
    | undefined
}

/** A failure that is shown to the person; each has a text. */
export type LivenessProblem =
  | 'insecurePage'
  | 'cameraUnsupported'
  | 'cameraRefused'
  | 'cameraMissing'
  | 'cameraBusy'
  | 'cameraStopped'
  | 'timeOver'
  | 'pageHidden'
  | 'serverFailed'
  | 'notReady'
  | 'notLive'

/** Ends an attempt with a text for the person; `cause` is the original error. */
export class LivenessError extends Error {
  override readonly name = 'LivenessError'
  readonly problem: LivenessProblem
  /** What the person can correct. */
  readonly causes: LivenessCauses

  constructor(problem: LivenessProblem, options?: ErrorOptions, causes: LivenessCauses = []) {
    super(problem, options)
    this.problem = problem
    this.causes = causes
  }
}
