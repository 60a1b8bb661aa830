import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Shares the runs of a costly read between its callers. Every caller receives the result of a run
 * that started after the call, so that no result is outdated. At most one run is active, and runs
 * start at least `intervalMs` apart; the callers in between share the next run.
 */
export function shareRuns<T>(run: () => Promise<T>, intervalMs: number): () => Promise<T> {
  let active: Promise<unknown> = Promise.resolve()
  let startedAtMs = -Infinity
  let next: Promise<T> | undefined
  return () => (next ??= startNext())

  async function startNext(): Promise<T> {
    await active
    const waitMs = startedAtMs + intervalMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    startedAtMs = performance.now()
    next = undefined
    const result = run()
    active = result.catch(() => {}) // The callers receive the error.
    return result
  }
}
