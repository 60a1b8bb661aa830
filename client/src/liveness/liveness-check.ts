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
