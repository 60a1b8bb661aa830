import { unavailable } from '../errors.ts'

/** Runs work with the same key sequentially, and work with different keys concurrently. */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * @param options.waitingMax further work with a key is rejected with 503 immediately, before its client
 *   times out.
 */
export function createKeyedQueue(options: {
  readonly waitingMax: number
  readonly detail: string
}): KeyedQueue {
  const queues = new Map<string, { size: number; last: Promise<unknown> }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { size: 0, last: Promise.resolve() }
    if (queue.size >= options.waitingMax) throw unavailable(options.detail)
    queues.set(key, queue)
    queue.size++
    const result = queue.last.then(work)
    queue.last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      if (--queue.size === 0) queues.delete(key)
    }
  }
}
