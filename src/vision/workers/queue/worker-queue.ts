import { unavailable } from '../../../lib/errors.ts'
import { createFairQueue } from './fair-queue.ts'
import type { QueueBounds, QueueEntry } from './fair-queue.ts'

/** Brings free workers and waiting calls together. */
export type WorkerQueue<Worker> = {
  /**
   * Resolves with a worker when it is the call's turn; the caller gives it back.
   *
   * @throws HttpError 503 when there is no room to wait, or the wait is too long.
   * @throws the reason of `signal` when it is aborted while the call waits.
   */
  readonly acquire: (call: QueueEntry, signal?: AbortSignal) => Promise<Worker>
  /** Offers a free worker to whoever is next. */
  readonly release: (worker: Worker) => void
  /** Lets a worker go: calls `end` with it as soon as no call has it. */
  readonly retire: (worker: Worker) => void
  /** Takes out a worker that is no more. */
  readonly remove: (worker: Worker) => void
  /** Refuses everybody who waits. */
  readonly rejectAll: () => void
  readonly count: () => number
  readonly bytes: () => number
}

export type WorkerQueueLimits = QueueBounds & {
  /** The longest that a call waits for a worker. */
  readonly waitMsMax: number
}

type QueuedRequest<Worker> = QueueEntry & PromiseWithResolvers<Worker>

export function createWorkerQueue<Worker extends object>(
  limits: WorkerQueueLimits,
  end: (worker: Worker) => void,
): WorkerQueue<Worker> {
  const free = new Set<Worker>()
  const leaving = new WeakSet<Worker>()
  const queue = createFairQueue<QueuedRequest<Worker>>(limits)

  async function take(call: QueueEntry, signal?: AbortSignal): Promise<Worker> {
    signal?.throwIfAborted()
    const [worker] = free
    if (worker) {
      free.delete(worker)
      return worker
    }
    const ticket = { ...call, ...Promise.withResolvers<Worker>() }
    const { isIn, displaced } = queue.offer(ticket)
    displaced?.reject(overloadedError('a project with fewer calls took the place'))
    if (!isIn) throw overloadedError('the queue is full')
    const leave = (reason: unknown) => {
      queue.remove(ticket)
      ticket.reject(reason)
    }
    return waitWithTimeout(limits.waitMsMax, ticket.promise, leave, signal)
  }

  function give(worker: Worker): void {
    if (leaving.has(worker)) return end(worker)
    const ticket = queue.take()
    if (ticket) ticket.resolve(worker)
    else free.add(worker)
  }

  function dismiss(worker: Worker): void {
    if (free.delete(worker)) end(worker)
    else leaving.add(worker)
  }

  const forget = (worker: Worker) => void free.delete(worker)

  function refuseAll(): void {
    for (let ticket = queue.take(); ticket; ticket = queue.take())
      ticket.reject(unavailable('shutting down'))
  }

  const { count, bytes } = queue
  return {
    acquire: take,
    release: give,
    retire: dismiss,
    remove: forget,
    rejectAll: refuseAll,
    count,
    bytes,
  }
}

/** `turn`, unless the time runs out or the caller goes away: then `leave` has to reject it. */
async function waitWithTimeout<Worker>(
  msMax: number,
  turn: Promise<Worker>,
  leave: (reason: unknown) => void,
  signal?: AbortSignal,
): Promise<Worker> {
  const onAbort = () => leave(signal?.reason)
  const timer = setTimeout(() => leave(overloadedError('the wait was too long')), msMax)
  signal?.addEventListener('abort', onAbort)
  try {
    return await turn
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

const overloadedError = (why: string) => unavailable(`too many calls at once, ${why}; retry`)
