import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { unavailable } from '../../lib/errors.ts'

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

/** Returns whether the client has announced a body that has not arrived in full. */
export function isBodyPending({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export type BodyBudgetLimits = {
  /** The size of all bodies together, and of those with one owner. */
  readonly bytesMax: number
  readonly bytesPerOwnerMax: number
}

/**
 * Limits the memory of request bodies, from the time at which they are read until their requests are
 * handled. One owner (an API key) cannot use up the memory of the others.
 */
export type BodyBudget = {
  /** @throws HttpError 503 if a limit would be exceeded; nothing is reserved then. */
  readonly reserve: (owner: string, byteCount: number) => void
  readonly release: (owner: string, byteCount: number) => void
  readonly stats: () => BodyBudgetStats
}

export type BodyBudgetStats = {
  readonly reservedBytes: number
  /** Requests rejected since the start of the process. */
  readonly rejectedCount: number
}

export function createBodyBudget({ bytesMax, bytesPerOwnerMax }: BodyBudgetLimits): BodyBudget {
  const bytesByOwner = new Map<string, number>()
  let reservedBytes = 0
  let rejectedCount = 0
  const reject = (detail: string): never => {
    rejectedCount += 1
    throw unavailable(detail)
  }
  return {
    reserve: (owner, byteCount) => {
      const ownerBytes = (bytesByOwner.get(owner) ?? 0) + byteCount
      if (ownerBytes > bytesPerOwnerMax)
        reject(`The requests in progress with this key exceed ${bytesPerOwnerMax} bytes.`)
      if (reservedBytes + byteCount > bytesMax)
        reject(`The requests in progress exceed ${bytesMax} bytes.`)
      bytesByOwner.set(owner, ownerBytes)
      reservedBytes += byteCount
    },
    release: (owner, byteCount) => {
      const ownerBytes = (bytesByOwner.get(owner) ?? 0) - byteCount
      if (ownerBytes > 0) bytesByOwner.set(owner, ownerBytes)
      else bytesByOwner.delete(owner)
      reservedBytes -= byteCount
    },
    stats: () => ({ reservedBytes, rejectedCount }),
  }
}

/** A budget without a limit, for servers whose requests have no bodies. */
export const unlimitedBodyBudget: BodyBudget = createBodyBudget({
  bytesMax: Infinity,
  bytesPerOwnerMax: Infinity,
})
