import { HttpError, unavailable } from '../errors.ts'

export type KeyedQueue = ReturnType<typeof createKeyedQueue>

/**
 * Runs work with the same key in order, and work with different keys concurrently. Work whose signal
 * aborts while it waits is rejected with 499.
 *
 * Work of one key can have several owners: one work of each in rotation, and in order for each, so that
 * the work of one owner delays that of another by one work each time. Without an owner, the key is it.
 *
 * @param options.runningMax work with one key that runs at the same time, by default 1.
 * @param options.waitingMax work of one owner that runs or waits; further work is rejected with 503
 *   immediately, before its client times out.
 */
export function createKeyedQueue(options: {
  readonly runningMax?: number
  readonly waitingMax: number
  readonly detail: string
}) {
  const { runningMax = 1, waitingMax, detail } = options
  const queues = new Map<string, KeyQueue>()
  return async <T>(
    key: string,
    work: () => Promise<T>,
    { owner = key, signal }: QueuedWork = {},
  ) => {
    const queue = queues.get(key) ?? { running: 0, owners: new Map() }
    const own = queue.owners.get(owner) ?? { count: 0, waiting: new Set() }
    if (own.count >= waitingMax) throw unavailable(detail)
    queues.set(key, queue)
    queue.owners.set(owner, own)
    own.count++
    try {
      if (queue.running < runningMax) queue.running++
      else await waitForPlace(own.waiting, signal)
      try {
        return await work()
      } finally {
        passPlace(queue)
      }
    } finally {
      if (--own.count === 0) queue.owners.delete(owner)
      if (queue.owners.size === 0) queues.delete(key)
    }
  }
}

type QueuedWork = {
  readonly owner?: string
  readonly signal?: AbortSignal | undefined
}

/** The work of one owner that runs or waits. Calling an entry of `waiting` starts it. */
type OwnedWork = { count: number; readonly waiting: Set<() => void> }

/** The owners in the order of their next turns. */
type KeyQueue = { running: number; readonly owners: Map<string, OwnedWork> }

/** The next work takes the place of one that has ended. */
function passPlace(queue: KeyQueue): void {
  for (const [owner, own] of queue.owners) {
    const [start] = own.waiting
    if (!start) continue
    queue.owners.delete(owner)
    queue.owners.set(owner, own)
    return start()
  }
  queue.running--
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
