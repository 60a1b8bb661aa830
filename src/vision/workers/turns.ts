import { unavailable } from '../../lib/errors.ts'
import { createFairQueue } from './fair-queue.ts'
import type { QueueBounds, Waiting } from './fair-queue.ts'

/** Brings free workers and waiting calls together. */
export type Turns<Worker> = {
  /**
   * Resolves with a worker when it is the call's turn; the caller gives it back.
   *
   * @throws HttpError 503 when there is no room to wait, or the wait is too long.
   * @throws the reason of `signal` when it is aborted while the call waits.
   */
  readonly take: (call: Waiting, signal?: AbortSignal) => Promise<Worker>
  /** Offers a free worker to whoever is next. */
  readonly give: (worker: Worker) => void
  /** Lets a worker go: calls `end` with it as soon as no call has it. */
  readonly dismiss: (worker: Worker) => void
  /** Takes out a worker that is no more. */
  readonly forget: (worker: Worker) => void
  /** Refuses everybody who waits. */
  readonly refuseAll: () => void
  readonly count: () => number
  readonly bytes: () => number
}

export type TurnLimits = QueueBounds & {
  /** The longest that a call waits for a worker. */
  readonly waitMsMax: number
}

type Ticket<Worker> = Waiting & PromiseWithResolvers<Worker>

export function createTurns<Worker extends object>(
  limits: TurnLimits,
  end: (worker: Worker) => void,
): Turns<Worker> {
  const free = new Set<Worker>()
  const leaving = new WeakSet<Worker>()
  const queue = createFairQueue<Ticket<Worker>>(limits)

  async function take(call: Waiting, signal?: AbortSignal): Promise<Worker> {
    signal?.throwIfAborted()
    const [worker] = free
    if (worker) {
      free.delete(worker)
      return worker
    }
    const ticket = { ...call, ...Promise.withResolvers<Worker>() }
    const { isIn, displaced } = queue.offer(ticket)
    displaced?.reject(busy('a project with fewer calls took the place'))
    if (!isIn) throw busy('the queue is full')
    const leave = (reason: unknown) => {
      queue.remove(ticket)
      ticket.reject(reason)
    }
    return waitWithin(limits.waitMsMax, ticket.promise, leave, signal)
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
  return { take, give, dismiss, forget, refuseAll, count, bytes }
}

/** `turn`, unless the time runs out or the caller goes away: then `leave` has to reject it. */
async function waitWithin<Worker>(
  msMax: number,
  turn: Promise<Worker>,
  leave: (reason: unknown) => void,
  signal?: AbortSignal,
): Promise<Worker> {
  const onAbort = () => leave(signal?.reason)
  const timer = setTimeout(() => leave(busy('the wait was too long')), msMax)
  signal?.addEventListener('abort', onAbort)
  try {
    return await turn
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

const busy = (why: string) => unavailable(`too many calls at once, ${why}; retry`)
