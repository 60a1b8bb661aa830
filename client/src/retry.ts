import { attempt, type Exchange } from './attempt.ts'
import { FacegateError } from './error.ts'
import { readLimits, type CallOptions, type Settings } from './options.ts'

/** The first wait is drawn from 0..200 ms, each further one from twice as much, up to 10 s. */
const backoffMsFirst = 200
const backoffMsMax = 10_000

/**
 * Sends it until there is an answer that holds, within the limits of attempts and time.
 *
 * @throws FacegateError of the last attempt.
 * @throws the reason of the signal when that fires.
 */
export async function send<Value>(
  exchange: Exchange<Value>,
  settings: Settings,
  options: CallOptions,
): Promise<Value> {
  const { attemptsMax, attemptMsMax, callMsMax } = readLimits(options, settings.limits)
  const { signal } = options
  const endMs = performance.now() + callMsMax
  for (let count = 1; ; count++) {
    const startMs = performance.now()
    const tell = tellerOf(exchange, settings, { count, startMs })
    try {
      const msMax = Math.min(attemptMsMax, endMs - startMs)
      const { value, answer } = await attempt(exchange, settings, { msMax, signal })
      tell({ outcome: 'answered', status: answer.status, requestId: answer.requestId })
      return value
    } catch (error) {
      if (!(error instanceof FacegateError)) throw error
      const { code, status, requestId } = error
      const delayMs = delayBefore(count, error, Math.random())
      const mayRetry = count < attemptsMax && performance.now() + delayMs < endMs
      if (!mayRetry || !isWorthRetrying(error, exchange)) {
        tell({ outcome: 'failed', code, status, requestId })
        throw error
      }
      tell({ outcome: 'retrying', code, status, requestId, delayMs })
      await sleep(delayMs, signal)
    }
  }
}

type Told = Omit<
  Parameters<Settings['onEvent']>[0],
  'operation' | 'attempt' | 'durationMs' | 'requestId'
>

function tellerOf(
  { operation, requestId }: Exchange<unknown>,
  { onEvent }: Settings,
  { count, startMs }: { readonly count: number; readonly startMs: number },
) {
  return (told: Told & { readonly requestId?: string | undefined }): void => {
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
export function delayBefore(
  attemptCount: number,
  { retryAfterMs = 0 }: Pick<FacegateError, 'retryAfterMs'>,
  random: number,
): number {
  return retryAfterMs + random * Math.min(backoffMsMax, backoffMsFirst * 2 ** (attemptCount - 1))
}

/** Statuses that tell of the moment and not of the request; the others stay what they are. */
const passing = new Set([408, 429, 502, 503, 504])

function isWorthRetrying({ code, status }: FacegateError, { retry }: Exchange<unknown>): boolean {
  if (retry === 'refused') return status === 429
  if (code === 'CONNECTION_FAILED' || code === 'TIMED_OUT' || code === 'RATE_LIMITED') return true
  return status !== undefined && passing.has(status)
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
