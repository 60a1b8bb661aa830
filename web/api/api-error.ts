/** An error response of the server: its status, its detail and each invalid field with its path. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly problems: readonly { readonly path: string; readonly message: string }[]

  /** The password was correct, and sign-in requires a code of the second factor. */
  readonly isCodeRequired: boolean

  constructor(
    status: number,
    detail: string,
    { problems = [], isCodeRequired = false }: ApiErrorOptions = {},
  ) {
    super(detail)
    this.status = status
    this.problems = problems
    this.isCodeRequired = isCodeRequired
  }
}

type ApiErrorOptions = {
  readonly problems?: ApiError['problems'] | undefined
  readonly isCodeRequired?: boolean
}

/** Returns the text that the console shows for an error. */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Service unreachable. Check that it is running.'
  const problems = error.problems.map(({ path, message }) => `${path}: ${message}`)
  return [error.message, ...problems].join(' · ')
}
