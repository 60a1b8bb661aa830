import { HttpError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { HttpResponse } from './route.ts'

/** Returns the response to a call that has no envelope. The cause of a fault is only logged. */
export function errorResponse(error: unknown, requestId: string, log: Log): HttpResponse {
  const trace = { 'x-request-id': requestId }
  if (error instanceof HttpError) {
    if (error.cause !== undefined) log.debug({ requestId, err: error.cause }, error.message)
    const headers = { ...error.headers, ...trace }
    return { status: error.status, headers, body: { detail: error.message } }
  }
  log.error({ requestId, err: error }, 'unexpected fault')
  return {
    status: 500,
    headers: trace,
    body: { detail: 'Internal error. The server log has the details.' },
  }
}
