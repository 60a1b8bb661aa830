import type { LivenessChallenge } from '../contract.ts'

/** A head movement that the service requests; left and right are those of the person. */
export type LivenessStep = LivenessChallenge['steps'][number]

/** The part of a challenge that the component needs, passed on by the server of the page. */
export type RequestedChallenge = Pick<
  LivenessChallenge,
  'challengeId' | 'steps' | 'expiresAtUtc' | 'framesMax'
>

/** What the server of the page returns for the frames. It can contain more fields. */
export type LivenessVerdict = {
  /** Whether the challenge was passed. */
  readonly live: boolean
  /** Codes such as `CHALLENGE_NOT_FOLLOWED`; the component shows a text for each known one. */
  readonly reasons?: readonly string[] | undefined
}

/** The requests of the component to the server of the page. */
export type PageServer<Verdict extends LivenessVerdict> = {
  /**
   * Gets a challenge from the server of the page, which calls `POST /v1/liveness/challenges`. The API
   * key stays on that server.
   */
  readonly createChallenge: (signal: AbortSignal) => Promise<RequestedChallenge>
  /**
   * Sends the frames (JPEG, in order, the first frontal) to the server of the page, which calls
   * `svc.liveness` with the `challengeId`.
   */
  readonly submitFrames: (
    challenge: RequestedChallenge,
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
