import { runAsAllAccounts } from '../lib/account-context.ts'
import { hourMs, systemClock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

type JobSchedule = {
  readonly intervalMs: number
  /** The log message when the job fails. */
  readonly failure: string
  /** Whether the first run is at the end of the first interval. */
  readonly isDelayed?: boolean
}

/** The shortest time between two log lines of consecutive failures of a job. */
const failureLogMs = hourMs

/**
 * Runs a job for all accounts now, unless it is delayed, and in each interval. Two runs never overlap.
 * Of consecutive failures, the first is logged, and one each hour.
 */
export function schedule(
  run: (signal: AbortSignal) => Promise<void>,
  { intervalMs, failure, isDelayed = false }: JobSchedule,
  log: Log,
): AsyncDisposable {
  const closing = new AbortController()
  let running: Promise<void> | undefined
  let loggedAtMs = -Infinity
  const onError = (error: unknown): void => {
    if (closing.signal.aborted || systemClock() - loggedAtMs < failureLogMs) return
    log.error({ err: error }, failure)
    loggedAtMs = systemClock()
  }
  const start = (): void => {
    running ??= runAsAllAccounts(() => run(closing.signal))
      .then(() => void (loggedAtMs = -Infinity), onError)
      .finally(() => (running = undefined))
  }
  if (!isDelayed) start()
  const timer = setInterval(start, intervalMs)
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}
