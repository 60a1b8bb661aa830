import { attempt, type ServiceRequest } from './attempt.ts'
import { FacegateError } from '../facegate-error.ts'
import { readLimits, type CallOptions, type ResolvedOptions } from '../options.ts'

/** The first wait is random in 0..200 ms. The upper limit doubles for each further wait, up to 10 s. */
const backoffMsInitial = 200
const backoffMsMax = 10_000

/**
 * Sends a request and retries it within the limits of attempts and time.
 *
 * @throws FacegateError of the last attempt.
 * @throws the reason of the signal when the signal is aborted.
 */
export async function sendWithRetries<Value>(
  request: ServiceRequest<Value>,
  settings: ResolvedOptions,
  options: CallOptions,
): Promise<Value> {
  const { attemptsMax, attemptMsMax, callMsMax } = readLimits(options, settings.limits)
  const { signal } = options
  const endMs = performance.now() + callMsMax
  for (let count = 1; ; count++) {
    const startMs = performance.now()
    const report = createEventReporter(request, settings, { count, startMs })
    try {
      const msMax = Math.min(attemptMsMax, endMs - startMs)
      const { value, response } = await attempt(request, settings, { msMax, signal })
      report({ outcome: 'succeeded', status: response.status, requestId: response.requestId })
      return value
    } catch (error) {
      if (!(error instanceof FacegateError)) throw error
      const { code, status, requestId } = error
      const delayMs = retryDelayMs(count, error, Math.random())
      const hasTimeLeft = count < attemptsMax && performance.now() + delayMs < endMs
      if (!hasTimeLeft || !isRetryable(error, request)) {
        report({ outcome: 'failed', code, status, requestId })
        throw error
      }
      report({ outcome: 'retrying', code, status, requestId, delayMs })
      await sleep(delayMs, signal)
    }
  }
}

type EventFields = Omit<
  Parameters<ResolvedOptions['onEvent']>[0],
  'operation' | 'attempt' | 'durationMs' | 'requestId'
>

function createEventReporter(
  { operation, requestId }: ServiceRequest<unknown>,
  { onEvent }: ResolvedOptions,
  { count, startMs }: { readonly count: number; readonly startMs: number },
) {
  return (fields: EventFields & { readonly requestId?: string | undefined }): void => {
    const durationMs = performance.now() - startMs
    onEvent({ operation, requestId, ...fields, attempt: count, durationMs })
  }
}

/**
 * Returns the wait before the next attempt: the time that the service requests, plus a random part of
 * a limit that doubles ("full jitter"). The random part spreads clients that were rejected together.
 *
 * @param random 0..1, 1 excluded.
 */
export function retryDelayMs(
  attemptCount: number,
  { retryAfterMs = 0 }: Pick<FacegateError, 'retryAfterMs'>,
  random: number,
): number {
  return retryAfterMs + random * Math.min(backoffMsMax, backoffMsInitial * 2 ** (attemptCount - 1))
}

/** Statuses of temporary failures. A retry does not change the others. */
const retryableStatuses = new Set([408, 429, 502, 503, 504])

function isRetryable(
  { code, status }: FacegateError,
  { retryPolicy }: ServiceRequest<unknown>,
): boolean {
  if (retryPolicy === 'ifRejected') return status === 429
  if (code === 'CONNECTION_FAILED' || code === 'TIMED_OUT' || code === 'RATE_LIMITED') return true
  return status !== undefined && retryableStatuses.has(status)
}

/** Ends early when the signal is aborted; the next attempt then throws its reason. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal?.aborted ? 0 : ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
