import type { LivenessSession } from '../contract.ts'

/** A head movement that the service requests; left and right are those of the person. */
export type LivenessStep = LivenessSession['steps'][number]

/** Why a step, or a whole attempt, was not passed. */
export type LivenessCause = LivenessSession['causes'][number]['cause']

/** The part of a session that the component needs, passed on by the server of the page. */
export type RequestedSession = Pick<
  LivenessSession,
  'sessionId' | 'steps' | 'expiresAtUtc' | 'framesMax'
>

/** What the server of the page returns for the frames. It can contain more fields. */
export type LivenessVerdict = {
  /** Whether the session was passed. */
  readonly live: boolean
  /** Codes such as `CHALLENGE_NOT_FOLLOWED`; the component shows a text for each known one. */
  readonly reasons?: readonly string[] | undefined
  /** Why the attempt failed: the component shows these texts in place of those of the reasons. */
  readonly causes?: LivenessSession['causes'] | undefined
}

/** The requests of the component to the server of the page. */
export type PageServer<Verdict extends LivenessVerdict> = {
  /**
   * Gets a session from the server of the page, which calls `POST /v1/liveness/sessions`. The API key
   * stays on that server.
   */
  readonly createSession: (signal: AbortSignal) => Promise<RequestedSession>
  /**
   * Sends the frames (JPEG, in order, the first frontal) to the server of the page, which calls
   * `svc.liveness` with the `livenessSessionId`.
   */
  readonly submitFrames: (
    session: RequestedSession,
    frames: readonly Blob[],
    signal: AbortSignal,
  ) => Promise<Verdict>
}

/** How a check ended. */
export type LivenessOutcome<Verdict extends LivenessVerdict> =
  | { readonly status: 'passed'; readonly verdict: Verdict }
  /** The person closed the component; `verdict` is the last one, if frames were judged. */
  | { readonly status: 'closed'; readonly verdict: Verdict | undefined }

/** A failure that is shown to the person; each has a text. */
export type LivenessProblem =
  | 'insecurePage'
  | 'cameraRefused'
  | 'cameraMissing'
  | 'cameraBusy'
  | 'cameraStopped'
  | 'timeOver'
  | 'pageHidden'
  | 'serverFailed'
  | 'notLive'

/** Ends an attempt with a text for the person; `cause` is the original error. */
export class LivenessError extends Error {
  override readonly name = 'LivenessError'
  readonly problem: LivenessProblem

  constructor(problem: LivenessProblem, options?: ErrorOptions) {
    super(problem, options)
    this.problem = problem
  }
}
