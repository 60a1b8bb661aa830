import { HttpError, unavailable } from '../errors.ts'

export type KeyedQueue = ReturnType<typeof createKeyedQueue>

/**
 * Runs work with the same key in order, and work with different keys concurrently. Work whose signal
 * aborts while it waits is rejected with 499.
 *
 * @param options.runningMax work with one key that runs at the same time, by default 1.
 * @param options.waitingMax further work with a key is rejected with 503 immediately, before its client
 *   times out.
 */
export function createKeyedQueue(options: {
  readonly runningMax?: number
  readonly waitingMax: number
  readonly detail: string
}) {
  const { runningMax = 1, waitingMax, detail } = options
  const queues = new Map<string, { running: number; readonly waiting: Set<() => void> }>()
  return async <T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const queue = queues.get(key) ?? { running: 0, waiting: new Set() }
    if (queue.running + queue.waiting.size >= waitingMax) throw unavailable(detail)
    queues.set(key, queue)
    if (queue.running < runningMax) queue.running++
    else await waitForPlace(queue.waiting, signal)
    try {
      return await work()
    } finally {
      // The next work takes the place.
      const [start] = queue.waiting
      start?.()
      if (!start && --queue.running === 0) queues.delete(key)
    }
  }
}

function waitForPlace(waiting: Set<() => void>, signal?: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const start = (): void => void (waiting.delete(start) && resolve())
  waiting.add(start)
  signal?.addEventListener('abort', () => {
    if (waiting.delete(start)) reject(new HttpError(499, 'The client disconnected.'))
  })
  return promise
}
