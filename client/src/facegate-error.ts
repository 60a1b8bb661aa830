import type { ErrorCode } from './contract.ts'

/**
 * Why a call failed: a code of the service, or one of the way there.
 *
 * `CONNECTION_FAILED`: no whole answer arrived. `TIMED_OUT`: none in time. `BAD_ANSWER`: something
 * answered that is not the service. `HTTP_<status>`: an answer that has no code of its own.
 */
export type FacegateErrorCode =
  | ErrorCode
  | 'CONNECTION_FAILED'
  | 'TIMED_OUT'
  | 'BAD_ANSWER'
  | `HTTP_${number}`

/** One thing that is wrong with a call; for INVALID_REQUEST the message names its JSON path. */
export type Problem = { readonly code: FacegateErrorCode; readonly message: string }

export type FacegateErrorDetails = {
  /** What the call is known by in the log of the service. */
  readonly requestId?: string | undefined
  /** HTTP status, where there was an answer. */
  readonly status?: number | undefined
  /** How long the service asks to wait before the next try, ms. */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** A call that failed. Nothing was charged for it unless a connection broke after the work. */
export class FacegateError extends Error {
  override readonly name = 'FacegateError'
  readonly code: FacegateErrorCode
  /** Everything that is wrong, the first of which gave `code`; never empty. */
  readonly problems: readonly Problem[]
  readonly requestId: string | undefined
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(problems: readonly [Problem, ...Problem[]], facts: FacegateErrorDetails = {}) {
    const message = problems.map((problem) => problem.message).join('; ')
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = problems[0].code
    this.problems = problems
    this.requestId = facts.requestId
    this.status = facts.status
    this.retryAfterMs = facts.retryAfterMs
  }
}
