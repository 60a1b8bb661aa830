import type { ServiceResponse } from './attempt.ts'
import {
  FacegateError,
  type FacegateErrorCode,
  type FacegateErrorDetails,
} from '../facegate-error.ts'

/** The error codes of HTTP statuses whose responses contain no code. */
const codesByStatus: Readonly<Record<number, FacegateErrorCode>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
}

/** Returns the error of a response with `{"detail"}`, or of one that the service never sends. */
export function errorFromResponse(
  response: ServiceResponse,
  notFoundCode?: FacegateErrorCode,
): FacegateError {
  const { status, body, requestId } = response
  const details = errorDetailsOf(response)
  if (status >= 200 && status < 300)
    return new FacegateError(
      [
        {
          code: 'BAD_RESPONSE',
          message: 'the response did not come from the service; check baseUrl',
        },
      ],
      details,
    )
  const isRedirect = status === 0 || (status >= 300 && status < 400)
  const fallback = isRedirect
    ? 'the response is a redirect, which is not followed with the key; check baseUrl'
    : `the service returned HTTP ${status}`
  const message = isRecord(body) && typeof body['detail'] === 'string' ? body['detail'] : fallback
  // Only known routes return an id. A 404 without one does not mean that a subject is missing.
  const isKnownRoute = requestId !== undefined
  const code = status === 404 && isKnownRoute ? notFoundCode : codesByStatus[status]
  return new FacegateError([{ code: code ?? `HTTP_${status}`, message }], details)
}

export function errorDetailsOf({
  status,
  headers,
  requestId,
}: ServiceResponse): FacegateErrorDetails {
  return { status, requestId, retryAfterMs: retryAfterMs(headers.get('retry-after')) }
}

/** Parses Retry-After: seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/u.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), retryAfterMsMax)
}

/** One day. A timer of more than 24 days would end at once. */
const retryAfterMsMax = 86_400_000

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
