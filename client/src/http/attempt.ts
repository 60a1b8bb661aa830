import { FacegateError } from '../facegate-error.ts'
import type { ResolvedOptions } from '../options.ts'

/** One thing to ask of the service; the same however often it is sent. */
export type ServiceRequest<Value> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With its query. */
  readonly path: string
  readonly body?: string
  /** What events call it. */
  readonly operation: string
  readonly requestId?: string
  /** `always`: a second time does no harm. `refused`: only if the first was surely not done. */
  readonly retryPolicy: 'always' | 'refused'
  /** @throws FacegateError when the answer is a failure, or none of the service. */
  readonly parse: (answer: ServiceResponse) => Value
}

/** What came back, whole. */
export type ServiceResponse = {
  readonly status: number
  readonly headers: Headers
  /** The JSON of the body; undefined when the answer says that it is something else. */
  readonly body: unknown
  /** The id that the call is known by, where that is known. */
  readonly requestId: string | undefined
}

/**
 * Sends it once.
 *
 * @throws FacegateError CONNECTION_FAILED, TIMED_OUT, or what `read` throws.
 * @throws the reason of the signal when that fires.
 */
export async function attempt<Value>(
  exchange: ServiceRequest<Value>,
  settings: ResolvedOptions,
  { msMax, signal }: { readonly msMax: number; readonly signal: AbortSignal | undefined },
): Promise<{ readonly value: Value; readonly answer: ServiceResponse }> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    stop.abort()
  }, msMax)
  const onAbort = (): void => stop.abort()
  signal?.addEventListener('abort', onAbort, { once: true })
  let answer: ServiceResponse
  try {
    answer = await fetchOnce(exchange, settings, stop.signal)
  } catch (cause) {
    signal?.throwIfAborted()
    const { requestId } = exchange
    throw isLate
      ? new FacegateError(
          [{ code: 'TIMED_OUT', message: `no answer within ${Math.ceil(msMax)} ms` }],
          { requestId },
        )
      : new FacegateError(
          [{ code: 'CONNECTION_FAILED', message: `no whole answer: ${reasonOf(cause)}` }],
          { requestId, cause },
        )
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
  return { value: exchange.parse(answer), answer }
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
    // A redirect would carry the key to wherever it points.
    redirect: 'manual',
    signal,
  })
  const { status, headers } = response
  const text = await response.text()
  const known = requestId ?? headers.get('x-request-id') ?? undefined
  return { status, headers, body: parseJsonBody(text, headers), requestId: known }
}

/** @throws Error when it says that it is JSON and is not: some lines are cut without a sign. */
function parseJsonBody(text: string, headers: Headers): unknown {
  if (!headers.get('content-type')?.includes('json')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own error quotes what it read: names of people do not belong into a log.
    throw new Error('the answer is cut')
  }
}

/** Node hides why a connection failed one level below. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the connection broke'
  return cause.cause instanceof Error ? cause.cause.message : cause.message
}
