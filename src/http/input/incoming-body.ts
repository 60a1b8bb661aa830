import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { unavailable } from '../../lib/errors.ts'

/**
 * The bytes of a rejected body that are read and discarded for a caller that is not authenticated.
 * They cost about 2 ms of CPU time, or 5 ms in chunks of one byte.
 */
export const discardBytesMaxDefault = 1024 * 1024

/** The project and the account in whose budgets a body counts. A console user counts as a project. */
export type BodyOwner = { readonly projectId: string; readonly accountId: string }

/** The body of a request. Nothing reads it before its sender is authenticated. */
export type IncomingBody = ReturnType<typeof createIncomingBody>

export function createIncomingBody(stream: Readable, budget: BodyBudget) {
  const bytesByOwner = new Map<BodyOwner, number>()
  let owner: BodyOwner | undefined
  let discardBytesMax = discardBytesMaxDefault
  return {
    stream,
    /** A body that arrives more slowly is rejected. */
    bytesPerSMin: budget.bytesPerSMin,
    /**
     * Allows an authenticated owner to send a body of this size. It is read if the budget permits
     * it, and discarded up to this size if the request is rejected.
     */
    accept: (newOwner: BodyOwner, bytesMax: number): void => {
      owner = newOwner
      discardBytesMax = Math.max(discardBytesMax, bytesMax)
    },
    /** Reserves memory for bytes that have arrived. @throws HttpError 503 above the budget. */
    reserve: (byteCount: number): void => {
      if (owner === undefined) throw new Error('a body is accepted before it is read')
      budget.reserve(owner, byteCount)
      bytesByOwner.set(owner, (bytesByOwner.get(owner) ?? 0) + byteCount)
    },
    /** Releases the reserved memory: the request was handled. */
    release: (): void => {
      for (const [bodyOwner, byteCount] of bytesByOwner) budget.release(bodyOwner, byteCount)
      bytesByOwner.clear()
    },
    /** The number of unread bytes to discard if the request is rejected. */
    discardBytesMax: (): number => discardBytesMax,
  }
}

/** Returns whether a request has a body that is not empty, as far as its headers state it. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export type BodyBudgetLimits = {
  /** The size of all bodies together, and of those of one project and of one account. */
  readonly bytesMax: number
  readonly bytesPerProjectMax: number
  readonly bytesPerAccountMax: number
  /** The minimum rate at which a body arrives; 0: none. */
  readonly bytesPerSMin: number
}

/**
 * Limits the memory of request bodies, from the time at which they arrive until their requests are
 * handled. One project or account cannot use up the memory of the others.
 */
export type BodyBudget = ReturnType<typeof createBodyBudget>

const server = 'server'

export function createBodyBudget(limits: BodyBudgetLimits) {
  const bytesByShare = new Map<string, number>()
  /** Requests rejected since the start of the process. */
  let rejectedCount = 0
  const bytesOf = (share: string): number => bytesByShare.get(share) ?? 0
  return {
    bytesPerSMin: limits.bytesPerSMin,
    /** @throws HttpError 503 if a limit would be exceeded; nothing is reserved then. */
    reserve: ({ projectId, accountId }: BodyOwner, byteCount: number): void => {
      const shares = [
        { share: projectId, bytesMax: limits.bytesPerProjectMax, name: ' of this project' },
        { share: accountId, bytesMax: limits.bytesPerAccountMax, name: ' of this account' },
        { share: server, bytesMax: limits.bytesMax, name: '' },
      ]
      const full = shares.find(({ share, bytesMax }) => bytesOf(share) + byteCount > bytesMax)
      if (full) {
        rejectedCount += 1
        throw unavailable(`The requests in progress${full.name} exceed ${full.bytesMax} bytes.`)
      }
      for (const { share } of shares) bytesByShare.set(share, bytesOf(share) + byteCount)
    },
    release: ({ projectId, accountId }: BodyOwner, byteCount: number): void => {
      for (const share of [projectId, accountId, server]) {
        const restBytes = bytesOf(share) - byteCount
        if (restBytes > 0) bytesByShare.set(share, restBytes)
        else bytesByShare.delete(share)
      }
    },
    stats: () => ({ reservedBytes: bytesOf(server), rejectedCount }),
  }
}

/** A budget without a limit, for servers whose requests have no bodies. */
export const unlimitedBodyBudget = createBodyBudget({
  bytesMax: Infinity,
  bytesPerProjectMax: Infinity,
  bytesPerAccountMax: Infinity,
  bytesPerSMin: 0,
})
