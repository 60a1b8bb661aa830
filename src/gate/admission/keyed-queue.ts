import { unavailable } from '../../lib/errors.ts'

/** Runs work with the same key sequentially, and work with different keys concurrently. */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Further calls are rejected with 503 immediately, before their clients time out. */
const waitingMax = 1000

export function createKeyedQueue(): KeyedQueue {
  const queues = new Map<string, { size: number; last: Promise<unknown> }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { size: 0, last: Promise.resolve() }
    if (queue.size >= waitingMax) throw unavailable('Too many calls of the project are waiting.')
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
