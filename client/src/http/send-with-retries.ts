import { attempt, type ServiceRequest } from './attempt.ts'
import { FacegateError } from '../facegate-error.ts'
import { readLimits, type CallOptions, type ResolvedOptions } from '../options.ts'

/** The first wait is drawn from 0..200 ms, each further one from twice as much, up to 10 s. */
const backoffMsInitial = 200
const backoffMsMax = 10_000

/**
 * Sends it until there is an answer that holds, within the limits of attempts and time.
 *
 * @throws FacegateError of the last attempt.
 * @throws the reason of the signal when that fires.
 */
export async function sendWithRetries<Value>(
  exchange: ServiceRequest<Value>,
  settings: ResolvedOptions,
  options: CallOptions,
): Promise<Value> {
  const { attemptsMax, attemptMsMax, callMsMax } = readLimits(options, settings.limits)
  const { signal } = options
  const endMs = performance.now() + callMsMax
  for (let count = 1; ; count++) {
    const startMs = performance.now()
    const tell = createEventReporter(exchange, settings, { count, startMs })
    try {
      const msMax = Math.min(attemptMsMax, endMs - startMs)
      const { value, answer } = await attempt(exchange, settings, { msMax, signal })
      tell({ outcome: 'answered', status: answer.status, requestId: answer.requestId })
      return value
    } catch (error) {
      if (!(error instanceof FacegateError)) throw error
      const { code, status, requestId } = error
      const delayMs = retryDelayMs(count, error, Math.random())
      const mayRetry = count < attemptsMax && performance.now() + delayMs < endMs
      if (!mayRetry || !isRetryable(error, exchange)) {
        tell({ outcome: 'failed', code, status, requestId })
        throw error
      }
      tell({ outcome: 'retrying', code, status, requestId, delayMs })
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
  return (told: EventFields & { readonly requestId?: string | undefined }): void => {
    const durationMs = performance.now() - startMs
    onEvent({ operation, requestId, ...told, attempt: count, durationMs })
  }
}

/**
 * How long to wait after so many attempts: at least what the service asks for, and beyond it a random
 * part of a limit that doubles ("full jitter"), so that those who were refused together do not all
 * come back together.
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

/** Statuses that tell of the moment and not of the request; the others stay what they are. */
const retryableStatuses = new Set([408, 429, 502, 503, 504])

function isRetryable(
  { code, status }: FacegateError,
  { retryPolicy: retry }: ServiceRequest<unknown>,
): boolean {
  if (retry === 'refused') return status === 429
  if (code === 'CONNECTION_FAILED' || code === 'TIMED_OUT' || code === 'RATE_LIMITED') return true
  return status !== undefined && retryableStatuses.has(status)
}

/** Ends early when the signal fires; the next attempt tells why. */
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
