import { HttpError, unavailable } from '../errors.ts'

export type KeyedQueue = ReturnType<typeof createKeyedQueue>

/** Work that runs or waits; `start` ends its wait. */
type QueuedWork = { readonly owner: string; start: (() => void) | undefined }

/**
 * Runs work with the same key in order, and work with different keys concurrently. Work whose signal
 * aborts while it waits is rejected with 499. The owners of work with one key take turns; without an
 * owner, the key is the owner.
 *
 * @param options.runningMax work with one key that runs at the same time, by default 1.
 * @param options.waitingMax further work of an owner is rejected with 503 immediately, before its client
 *   times out.
 * @param options.waitMsMax work that waits longer, ms, is rejected with 503; by default it waits on.
 */
export function createKeyedQueue(options: {
  readonly runningMax?: number
  readonly waitingMax: number
  readonly waitMsMax?: number
  readonly detail: string
}) {
  const { runningMax = 1, waitingMax, waitMsMax, detail } = options
  const queues = new Map<string, Set<QueuedWork>>()
  return async <T>(
    key: string,
    work: () => Promise<T>,
    { owner = key, signal }: { owner?: string; signal?: AbortSignal | undefined } = {},
  ): Promise<T> => {
    const queue = queues.get(key) ?? new Set()
    if ([...queue].filter((other) => other.owner === owner).length >= waitingMax)
      throw unavailable(detail)
    const { promise: started, resolve: start, reject } = Promise.withResolvers<void>()
    const queued: QueuedWork = { owner, start }
    signal?.addEventListener('abort', () => reject(new HttpError(499, 'The client disconnected.')))
    queues.set(key, queue.add(queued))
    try {
      startNext(queue, runningMax)
      const timer =
        queued.start && waitMsMax && setTimeout(() => reject(unavailable(detail)), waitMsMax)
      await started.finally(() => clearTimeout(timer))
      return await work()
    } finally {
      queue.delete(queued)
      startNext(queue, runningMax)
      if (queue.size === 0) queues.delete(key)
    }
  }
}

/**
 * Waits for a place of a key in a queue.
 *
 * @returns a function that frees the place.
 * @throws HttpError 503 after the longest wait of the queue, or if too much other work waits.
 */
export function takePlace(queue: KeyedQueue, key: string): Promise<() => void> {
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const freed = Promise.withResolvers<void>()
  const hold = () => {
    resolve(freed.resolve)
    return freed.promise
  }
  queue(key, hold).catch(reject)
  return promise
}

/** Starts the first waiting work if there is a place; the other work of its owner goes to the end. */
function startNext(queue: Set<QueuedWork>, runningMax: number): void {
  const waiting = [...queue].filter(({ start }) => start)
  const [next] = waiting
  if (!next || queue.size - waiting.length >= runningMax) return
  for (const own of waiting.filter(({ owner }) => owner === next.owner)) {
    queue.delete(own)
    queue.add(own)
  }
  next.start?.()
  next.start = undefined
}
