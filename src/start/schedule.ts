import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Log } from '../lib/log.ts'

type JobSchedule = {
  readonly intervalMs: number
  /** The log message when the job fails. */
  readonly failure: string
}

/**
 * Runs a job for all accounts now and in each interval. Two runs never overlap. Of consecutive
 * failures, the first is logged.
 */
export function schedule(
  run: (signal: AbortSignal) => Promise<void>,
  { intervalMs, failure }: JobSchedule,
  log: Log,
): AsyncDisposable {
  const closing = new AbortController()
  let running: Promise<void> | undefined
  let hasFailed = false
  const onError = (error: unknown): void => {
    if (!closing.signal.aborted && !hasFailed) log.error({ err: error }, failure)
    hasFailed = true
  }
  const start = (): void => {
    running ??= runAsAllAccounts(() => run(closing.signal))
      .then(() => void (hasFailed = false), onError)
      .finally(() => (running = undefined))
  }
  start()
  const timer = setInterval(start, intervalMs)
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}
