/** A refusal of the server: the status and what it says, each problem with its place. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  /** Whole seconds to wait, with 429 and 503. */
  readonly retryAfterS: number | undefined

  constructor(
    status: number,
    detail: string,
    options: {
      readonly problems?: ApiError['problems']
      readonly retryAfterS?: number | undefined
    } = {},
  ) {
    super(detail)
    this.status = status
    this.problems = options.problems ?? []
    this.retryAfterS = options.retryAfterS
  }
}

/** What to tell the user about anything that was thrown. */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The service cannot be reached. Is it still running?'
  const problems = error.problems.map(({ path, message }) => `${path}: ${message}`)
  const wait = error.status === 429 && error.retryAfterS ? ` Wait ${error.retryAfterS} s.` : ''
  return [error.message, ...problems].join(' · ') + wait
}
