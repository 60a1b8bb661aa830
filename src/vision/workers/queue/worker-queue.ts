import { unavailable } from '../../../lib/errors.ts'
import { createFairQueue } from './fair-queue.ts'
import type { QueueBounds, QueueEntry } from './fair-queue.ts'

/** Assigns free workers to waiting calls. */
export type WorkerQueue<Worker> = {
  /**
   * Resolves with a worker, which must be released afterwards.
   *
   * @throws HttpError 503 if the queue is full or the wait is too long.
   * @throws the reason of `signal` if it is aborted while the call waits.
   */
  readonly acquire: (call: QueueEntry, signal?: AbortSignal) => Promise<Worker>
  /** Assigns a free worker to the next call. */
  readonly release: (worker: Worker) => void
  /** Stops a worker as soon as it is free. */
  readonly retire: (worker: Worker) => void
  /** Removes a worker that has exited. */
  readonly remove: (worker: Worker) => void
  /** Rejects all waiting calls. */
  readonly rejectAll: () => void
  readonly count: () => number
  readonly bytes: () => number
}

export type WorkerQueueLimits = QueueBounds & {
  /** The longest time that a call waits for a worker. */
  readonly waitMsMax: number
}

type QueuedRequest<Worker> = QueueEntry & PromiseWithResolvers<Worker>

/** @param stop is called with each retired worker once it is free. */
export function createWorkerQueue<Worker extends object>(
  limits: WorkerQueueLimits,
  stop: (worker: Worker) => void,
): WorkerQueue<Worker> {
  const free = new Set<Worker>()
  const retired = new WeakSet<Worker>()
  const queue = createFairQueue<QueuedRequest<Worker>>(limits)

  async function acquire(call: QueueEntry, signal?: AbortSignal): Promise<Worker> {
    signal?.throwIfAborted()
    const [worker] = free
    if (worker) {
      free.delete(worker)
      return worker
    }
    const request = { ...call, ...Promise.withResolvers<Worker>() }
    const { isAccepted, evicted } = queue.offer(request)
    evicted?.reject(overloadedError('evicted for a project with fewer calls'))
    if (!isAccepted) throw overloadedError('the queue is full')
    const cancel = (reason: unknown) => {
      queue.remove(request)
      request.reject(reason)
    }
    return waitWithTimeout(limits.waitMsMax, request.promise, cancel, signal)
  }

  function release(worker: Worker): void {
    if (retired.has(worker)) return stop(worker)
    const request = queue.take()
    if (request) request.resolve(worker)
    else free.add(worker)
  }

  function retire(worker: Worker): void {
    if (free.delete(worker)) stop(worker)
    else retired.add(worker)
  }

  function rejectAll(): void {
    for (let request = queue.take(); request; request = queue.take())
      request.reject(unavailable('shutting down'))
  }

  const { count, bytes } = queue
  return {
    acquire,
    release,
    retire,
    remove: (worker) => void free.delete(worker),
    rejectAll,
    count,
    bytes,
  }
}

/** Awaits `assigned`. After `msMax`, or when the signal is aborted, `cancel` must reject it. */
async function waitWithTimeout<Worker>(
  msMax: number,
  assigned: Promise<Worker>,
  cancel: (reason: unknown) => void,
  signal?: AbortSignal,
): Promise<Worker> {
  const onAbort = () => cancel(signal?.reason)
  const timer = setTimeout(() => cancel(overloadedError('the wait was too long')), msMax)
  signal?.addEventListener('abort', onAbort)
  try {
    return await assigned
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

const overloadedError = (reason: string) =>
  unavailable(`too many concurrent calls, ${reason}; retry`)
