import { ActionError, HttpError, type ActionErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { HttpResponse } from './route.ts'

/** HTTP statuses by error code. `other` applies to all other codes; without it they are faults. */
type ErrorStatuses = Partial<Record<ActionErrorCode | 'other', number>>

const commonStatuses: ErrorStatuses = {
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  SUBJECT_NOT_FOUND: 404,
  GROUP_NOT_FOUND: 404,
  MATCH_NOT_FOUND: 404,
  LIVENESS_SESSION_NOT_FOUND: 404,
  RATE_LIMITED: 429,
}

/** The HTTP status of each error code in a response without an envelope, by the kind of route. */
export const errorStatuses = {
  rest: { ...commonStatuses, other: 400 },
  compreFace: { ...commonStatuses, other: 400 },
  console: { ...commonStatuses, EXTERNAL_ID_CONFLICT: 409, other: 422 },
} satisfies Readonly<Record<string, ErrorStatuses>>

/** How a kind of route reports errors. */
export type ErrorFormat = {
  readonly statuses: ErrorStatuses
  /** The message of a fault, whose cause is only logged. */
  readonly faultMessage?: string
  readonly toBody: (error: ActionError | HttpError) => unknown
}

const restFormat: ErrorFormat = {
  statuses: errorStatuses.rest,
  toBody: (error) => ({ detail: error instanceof ActionError ? toDetail(error) : error.message }),
}

const defaultFaultMessage = 'Internal error. The server log has the details.'

/** A response without an envelope has no field for the remedy, and its route no `params`. */
function toDetail({ problems }: ActionError): string {
  const details = problems.map(({ code, message, hint }) => {
    const text = message.replace(/^params\./u, '')
    if (hint === undefined || code === 'INVALID_REQUEST') return text
    return `${text.replace(/\.$/u, '')}. ${hint}`
  })
  return details.join('; ')
}

/** Returns the response to a request that failed and has no envelope. */
export function errorResponse(
  error: unknown,
  requestId: string,
  log: Log,
  { statuses, faultMessage = defaultFaultMessage, toBody }: ErrorFormat = restFormat,
): HttpResponse {
  if (error instanceof ActionError) {
    const status = statuses[error.code] ?? statuses.other
    if (status !== undefined)
      return { status, headers: retryAfterHeader(error), body: toBody(error) }
  }
  const trace = { 'x-request-id': requestId }
  if (error instanceof HttpError) {
    const { status, headers, cause } = error
    // A 503 with a cause is a fault of another part, such as the database, which the response omits.
    if (cause !== undefined)
      log[status === 503 ? 'warn' : 'debug']({ requestId, err: cause }, error.message)
    return { status, headers: { ...headers, ...trace }, body: toBody(error) }
  }
  log.error({ requestId, err: error }, 'unexpected fault')
  return { status: 500, headers: trace, body: toBody(new HttpError(500, faultMessage)) }
}

/** A temporary refusal states when to send the call again. */
export function retryAfterHeader({
  retryAfterS,
}: ActionError): NonNullable<HttpResponse['headers']> {
  return retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
}
