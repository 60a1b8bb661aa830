import type { ErrorCode } from './contract.ts'

/**
 * The reason of a failed call: an error code of the service, or one of these.
 *
 * `CONNECTION_FAILED`: the response did not arrive, or not completely. `TIMED_OUT`: it did not arrive
 * in time. `BAD_RESPONSE`: it did not come from the service. `HTTP_<status>`: it has no error code.
 * `FILE_NOT_READABLE`: the file of an image cannot be read. `INVALID_ARGUMENT`: an argument of the
 * method is invalid. With the last two, nothing was sent.
 */
export type FacegateErrorCode =
  | ErrorCode
  | 'CONNECTION_FAILED'
  | 'TIMED_OUT'
  | 'BAD_RESPONSE'
  | 'FILE_NOT_READABLE'
  | 'INVALID_ARGUMENT'
  | `HTTP_${number}`

/** One problem of a call. */
export type Problem = {
  readonly code: FacegateErrorCode
  /** The location, the rule and what was received, for people. */
  readonly message: string
  /** The JSON path of the parameter, such as `params.images[1].bytes`. */
  readonly path?: string
  /** The position in `params.images` of the image with the problem. */
  readonly imageIndex?: number
  /** That of the image with the problem. */
  readonly correlationId?: string
  /** The subject that the problem concerns. */
  readonly subjectId?: string
  /** One sentence: what to change. */
  readonly hint?: string
}

/** Returns the error of a call that was not sent because of an argument. */
export function invalidArgument(message: string, cause?: unknown): FacegateError {
  return new FacegateError([{ code: 'INVALID_ARGUMENT', message }], { cause })
}

export type FacegateErrorDetails = {
  /** The id of the call in the service's request log. */
  readonly requestId?: string | undefined
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined
  /** The wait that the service requests before the next attempt, ms. */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/**
 * A failed call. It was not charged, with one exception: if the connection broke after the service
 * had completed the call.
 */
export class FacegateError extends Error {
  override readonly name = 'FacegateError'
  /** The code of the first problem. */
  readonly code: FacegateErrorCode
  /** Every problem of the call; never empty. */
  readonly problems: readonly Problem[]
  readonly requestId: string | undefined
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(problems: readonly [Problem, ...Problem[]], details: FacegateErrorDetails = {}) {
    const message = problems.map((problem) => problem.message).join('; ')
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = problems[0].code
    this.problems = problems
    this.requestId = details.requestId
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
  }
}
