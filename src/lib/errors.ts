import table from './error-table.json' with { type: 'json' }

/**
 * The table of all error codes. The documentation and OpenAPI are generated from it.
 *
 * `status` is the HTTP status of the response: with 200 the code is inside the envelope, with any other
 * status the body is `{"detail"}`. A call with an error is never billed.
 */
export const errorTable: typeof table = table

export type ErrorCode = keyof typeof errorTable

/** The codes that are returned inside the envelope, with HTTP 200. */
export type ActionErrorCode = Exclude<ErrorCode, 'UNAUTHORIZED' | 'PAYLOAD_TOO_LARGE'>

/** Where a problem is, and what to change. */
type ProblemDetails = {
  /** JSON path of the parameter, such as `params.images[1].bytes`. */
  readonly path?: string
  /** The position in `params.images` of the image with the problem. */
  readonly imageIndex?: number
  /** That of the image, if the problem concerns an image. */
  readonly correlationId?: string
  /** The subject that the problem concerns. */
  readonly subjectId?: string
  /** One sentence: what to change. */
  readonly hint?: string
}

/** One item of `errors[]`. */
export type ActionProblem = ProblemDetails & {
  readonly code: ActionErrorCode
  readonly message: string
}

/** The most items of `errors[]`. */
export const problemsMax = 20

/**
 * Returns at most `problemsMax` problems, of which the last one counts the others.
 *
 * @param problems at least the first of `count` problems.
 */
export function limitProblems<Problem>(
  problems: readonly Problem[],
  count: number,
  toProblem: (message: string) => Problem,
): readonly Problem[] {
  if (count <= problemsMax) return problems
  const message = `${count - problemsMax + 1} further problems are not listed; correct these first`
  return [...problems.slice(0, problemsMax - 1), toProblem(message)]
}

type ActionErrorOptions = ErrorOptions &
  ProblemDetails & {
    readonly retryAfterS?: number
    /** The number of all problems; by default those of the list. */
    readonly count?: number
  }

/** An expected failure of a call: it becomes one item of `errors[]` in the envelope. */
export class ActionError extends Error {
  override readonly name = 'ActionError'
  readonly problems: readonly ActionProblem[]

  /**
   * Set for a temporary refusal, in whole seconds. The call is then neither settled nor stored for
   * replays: a retry with the same requestId runs.
   */
  readonly retryAfterS: number | undefined

  /**
   * @param message a message that starts with a JSON path and a colon states its location. Details that
   *   the message and `options` do not state are derived: the path and the index of the image, and the
   *   hint from the table of errors.
   */
  constructor(
    code: ActionErrorCode,
    message: string | readonly (string | ActionProblem)[],
    { cause, retryAfterS, count, ...details }: ActionErrorOptions = {},
  ) {
    const list = typeof message === 'string' ? [message] : message
    const listed = limitProblems(list, count ?? list.length, (text) => text)
    const problems = listed.map((problem) =>
      typeof problem === 'string' ? toProblem({ code, message: problem, ...details }) : problem,
    )
    super(
      problems.map((problem) => problem.message).join('; '),
      cause === undefined ? {} : { cause },
    )
    this.problems = problems
    this.retryAfterS = retryAfterS
  }

  /** Returns the same failure with other problems. */
  mapProblems(complete: (problem: ActionProblem) => ActionProblem): ActionError {
    const options = this.retryAfterS === undefined ? {} : { retryAfterS: this.retryAfterS }
    const problems = this.problems.map(complete)
    return new ActionError(this.code, problems, { cause: this, ...options })
  }

  /** The problem with which one image or one item reports this failure. */
  get firstProblem(): ActionProblem {
    const [problem] = this.problems
    if (!problem) throw new Error('an ActionError has at least one problem')
    return problem
  }

  get code(): ActionErrorCode {
    return this.problems[0]?.code ?? 'INVALID_REQUEST'
  }
}

/** Returns the error of an invalid request, for rules that no schema contains. */
export function invalidRequest(
  message: string | readonly (string | ActionProblem)[],
  options?: ActionErrorOptions,
) {
  return new ActionError('INVALID_REQUEST', message, options)
}

const pathPattern =
  /^(?<path>(?:action|requestId|debug|validateOnly|(?:params|query|body|path)(?:\["(?:[^"\\]|\\.)*"\]|[^\s:"])*)): /u
const imagePattern = /^params\.images\[(?<index>\d+)\]/u

/** Completes the details of a problem. The message of a problem of an image names the image. */
export function toProblem(problem: ActionProblem): ActionProblem {
  const { code, message, ...details } = problem
  const stated = pathPattern.exec(message)?.groups?.['path']
  const imagePath =
    details.imageIndex === undefined ? undefined : `params.images[${details.imageIndex}]`
  const path = details.path ?? stated ?? imagePath
  const index = imagePattern.exec(path ?? '')?.groups?.['index']
  const imageIndex = details.imageIndex ?? (index === undefined ? undefined : Number(index))
  // INVALID_REQUEST has too many causes for one remedy.
  const hint = details.hint ?? (code === 'INVALID_REQUEST' ? undefined : errorTable[code].remedy)
  return {
    code,
    message: imagePath !== undefined && stated === undefined ? `${imagePath}: ${message}` : message,
    ...(path !== undefined && { path }),
    ...(imageIndex !== undefined && { imageIndex }),
    ...(details.correlationId !== undefined && { correlationId: details.correlationId }),
    ...(details.subjectId !== undefined && { subjectId: details.subjectId }),
    ...(hint !== undefined && { hint }),
  }
}

/** A failure without an envelope: the response has `status` and the body `{"detail": message}`. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    detail: string,
    options: ErrorOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail, options)
    this.status = status
    this.headers = options.headers ?? {}
  }
}

/** Creates an HTTP 503 for overload or a temporary failure; `Retry-After` is in whole seconds. */
export function unavailable(detail: string, retryAfterS = 1, cause?: unknown): HttpError {
  return new HttpError(503, detail, { headers: { 'retry-after': String(retryAfterS) }, cause })
}

/** A call runs again after this error: subjects that it has found have ended, or many have changed. */
export class GalleryChangedError extends HttpError {
  constructor() {
    const headers = { 'retry-after': '1' }
    super(503, 'The gallery changed during the call; send it again.', { headers })
  }
}

/** The detail of a 404 response. */
export const noSuchRoute =
  'No such route. Calls of actions go to POST /v1/face/execute; GET /v1/openapi.json lists all routes.'
