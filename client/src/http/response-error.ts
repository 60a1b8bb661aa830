import type { ServiceResponse } from './attempt.ts'
import {
  FacegateError,
  type FacegateErrorCode,
  type FacegateErrorDetails,
} from '../facegate-error.ts'

/** The codes of the error table for answers that carry none. */
const codesByStatus: Readonly<Record<number, FacegateErrorCode>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
}

/** A failure that came as `{"detail"}`; or as something that the service never says. */
export function errorFromResponse(
  answer: ServiceResponse,
  codeOf404?: FacegateErrorCode,
): FacegateError {
  const { status, body, requestId } = answer
  const facts = errorDetailsOf(answer)
  if (status >= 200 && status < 300)
    return new FacegateError(
      [{ code: 'BAD_ANSWER', message: 'the answer is not of the service; is baseUrl right?' }],
      facts,
    )
  const isRedirect = status === 0 || (status >= 300 && status < 400)
  const fallback = isRedirect
    ? 'redirected, and not followed with the key; is baseUrl right?'
    : `the service answered HTTP ${status}`
  const message = isRecord(body) && typeof body['detail'] === 'string' ? body['detail'] : fallback
  // Only answers to a known route have an id: without one, 404 says nothing about the gallery.
  const isKnownRoute = requestId !== undefined
  const code = status === 404 && isKnownRoute ? codeOf404 : codesByStatus[status]
  return new FacegateError([{ code: code ?? `HTTP_${status}`, message }], facts)
}

export function errorDetailsOf({
  status,
  headers,
  requestId,
}: ServiceResponse): FacegateErrorDetails {
  return { status, requestId, retryAfterMs: retryAfterMs(headers.get('retry-after')) }
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterMs(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/u.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
