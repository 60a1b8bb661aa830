/** One rejected field of a request. */
export type FieldProblem = { readonly path: string; readonly message: string }

/** An error response of the server: its status, its detail and each invalid field with its path. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly problems: readonly FieldProblem[]

  /** The password was correct, and sign-in requires a code of the second factor. */
  readonly isCodeRequired: boolean

  /** The session has ended, so that the server did nothing. */
  readonly isSessionEnded: boolean

  /** The id under which the server log describes an unexpected error. */
  readonly reference: string | undefined

  /** The time after which the server accepts the request again. */
  readonly retryAfterS: number | undefined

  constructor(status: number, detail: string, options: ApiErrorOptions = {}) {
    super(detail)
    this.status = status
    this.problems = options.problems ?? []
    this.isCodeRequired = options.isCodeRequired ?? false
    this.isSessionEnded = options.isSessionEnded ?? false
    this.reference = options.reference
    this.retryAfterS = options.retryAfterS
  }
}

type ApiErrorOptions = Partial<
  Pick<ApiError, 'problems' | 'isCodeRequired' | 'isSessionEnded' | 'reference' | 'retryAfterS'>
>

/** A request without a response: the browser is offline, or the server cannot be reached. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly state: 'notSent' | 'noResponse'

  constructor(state: 'notSent' | 'noResponse') {
    super(
      state === 'notSent'
        ? 'You are offline, so nothing was sent. Your input is kept. Send it again when you are online.'
        : 'The server cannot be reached. Your input is kept. When the connection is back, check whether the change was made, then send it again.',
    )
    this.state = state
  }
}

/** An error in words, for the user. */
export type ExplainedError = {
  readonly message: string
  readonly problems: readonly { readonly label: string; readonly message: string }[]
  readonly reference?: string | undefined
}

/** Explains what failed and what to do. */
export function explainError(error: unknown): ExplainedError {
  if (error instanceof ConnectionError) return { message: error.message, problems: [] }
  if (!(error instanceof ApiError)) return { message: unexpectedText, problems: [] }
  if (error.isSessionEnded)
    return {
      message:
        'Your session had ended, so nothing was changed. Your input is kept. Sign in, then send it again.',
      problems: [],
    }
  if (error.status >= 500 && error.status !== 503)
    return { message: failedText, problems: [], reference: error.reference }
  if (error.problems.length > 0)
    return {
      message: 'Correct these values:',
      problems: error.problems.map(({ path, message }) => ({ label: labelOf(path), message })),
    }
  return { message: withWaitTime(error), problems: [] }
}

const unexpectedText =
  'Unexpected error in the console. Reload the page. Your data is not affected.'
const failedText =
  'Unexpected error of the server. Try again. If it happens again, report the reference: the server log describes the error under it.'

function withWaitTime({ message, retryAfterS }: ApiError): string {
  if (retryAfterS === undefined || /try again in/iu.test(message)) return message
  return `${message} Try again in ${retryAfterS} s.`
}

/** Returns the text that the console shows for an error. */
export function errorMessageOf(error: unknown): string {
  const { message, problems, reference } = explainError(error)
  const lines = problems.map((problem) => `${problem.label}: ${problem.message}`)
  return [message, ...lines, ...(reference ? [`Reference: ${reference}`] : [])].join(' · ')
}

/** Returns a path of a request in words: `body.retentionDays` → `Retention days`. */
function labelOf(path: string): string {
  const words = fieldNameOf(path)
    .replace(/Micros$/u, '')
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns the name of the field in a path: `body.events[0]` → `events`. */
export function fieldNameOf(path: string): string {
  const [name = path] = path.replace(/^(?:body|query)\.?/u, '').split(/[.[]/u)
  return name === '' ? 'request' : name
}
