import type { Readable } from 'node:stream'
import type { BodyBudget } from './body-budget.ts'

/**
 * The bytes of a rejected body that are read and discarded for a caller that is not authenticated.
 * They cost about 2 ms of CPU time.
 */
export const discardBytesMaxDefault = 1024 * 1024

/** The body of a request. Nothing reads it before its sender is authenticated. */
export type IncomingBody = {
  readonly stream: Readable
  /**
   * Allows an authenticated owner to send a body of this size. It is read if the budget permits it,
   * and discarded up to this size if the request is rejected.
   */
  readonly accept: (owner: string, bytesMax: number) => void
  /** Reserves memory for bytes before they are read. @throws HttpError 503 above the budget. */
  readonly reserve: (byteCount: number) => void
  /** Releases the reserved memory: the request was handled. */
  readonly release: () => void
  /** The number of unread bytes to discard if the request is rejected. */
  readonly discardBytesMax: () => number
}

export function createIncomingBody(stream: Readable, budget: BodyBudget): IncomingBody {
  const bytesByOwner = new Map<string, number>()
  let owner: string | undefined
  let discardBytesMax = discardBytesMaxDefault
  return {
    stream,
    accept: (newOwner, bytesMax) => {
      owner = newOwner
      discardBytesMax = Math.max(discardBytesMax, bytesMax)
    },
    reserve: (byteCount) => {
      if (owner === undefined) throw new Error('a body is accepted before it is read')
      budget.reserve(owner, byteCount)
      bytesByOwner.set(owner, (bytesByOwner.get(owner) ?? 0) + byteCount)
    },
    release: () => {
      for (const [name, byteCount] of bytesByOwner) budget.release(name, byteCount)
      bytesByOwner.clear()
    },
    discardBytesMax: () => discardBytesMax,
  }
}
