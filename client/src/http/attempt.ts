import { FacegateError } from '../facegate-error.ts'
import type { ResolvedOptions } from '../options.ts'

/** One request to the service. Every attempt sends the same request. */
export type ServiceRequest<Value> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path with its query. */
  readonly path: string
  readonly body?: string
  /** The name of the request in events. */
  readonly operation: string
  readonly requestId?: string
  /** `always`: repeating it is safe. `ifRejected`: only if the service did not run it. */
  readonly retryPolicy: 'always' | 'ifRejected'
  /** @throws FacegateError when the response is a failure or does not come from the service. */
  readonly parse: (response: ServiceResponse) => Value
}

/** A complete response. */
export type ServiceResponse = {
  readonly status: number
  readonly headers: Headers
  /** The JSON body; undefined if the content type is not JSON. */
  readonly body: unknown
  /** The id of the call, if the request or the response contains it. */
  readonly requestId: string | undefined
}

/**
 * Sends a request once.
 *
 * @throws FacegateError CONNECTION_FAILED, TIMED_OUT, or the error of `parse`.
 * @throws the reason of the signal when the signal is aborted.
 */
export async function attempt<Value>(
  request: ServiceRequest<Value>,
  settings: ResolvedOptions,
  { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal | undefined },
): Promise<{ readonly value: Value; readonly response: ServiceResponse }> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, msMax)
  const onAbort = (): void => controller.abort()
  signal?.addEventListener('abort', onAbort, { once: true })
  let response: ServiceResponse
  try {
    response = await fetchOnce(request, settings, controller.signal)
  } catch (cause) {
    signal?.throwIfAborted()
    const { requestId } = request
    throw isLate
      ? new FacegateError(
          [{ code: 'TIMED_OUT', message: `no response within ${Math.ceil(msMax)} ms` }],
          { requestId },
        )
      : new FacegateError(
          [{ code: 'CONNECTION_FAILED', message: `no complete response: ${reasonOf(cause)}` }],
          { requestId, cause },
        )
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  return { value: request.parse(response), response }
}

async function fetchOnce(
  { method, path, body, requestId }: ServiceRequest<unknown>,
  { baseUrl, apiKey, fetch }: ResolvedOptions,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'x-api-key': apiKey,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    // Following a redirect would send the key to its target.
    redirect: 'manual',
    signal,
  })
  const { status, headers } = response
  const text = await response.text()
  return {
    status,
    headers,
    body: parseJsonBody(text, headers),
    requestId: requestId ?? headers.get('x-request-id') ?? undefined,
  }
}

/** @throws Error when a JSON body is invalid: some connections break without an error. */
function parseJsonBody(text: string, headers: Headers): unknown {
  if (!headers.get('content-type')?.includes('json')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // The parser's error quotes the body, and logs must not contain names of people.
    throw new Error('the response is incomplete')
  }
}

/** Node reports the reason of a failed connection in the cause of the error. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection broke'
  return cause.cause instanceof Error ? cause.cause.message : cause.message
}
