import { unavailable } from '../../lib/errors.ts'

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
