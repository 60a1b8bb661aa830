import { HttpError } from '../../lib/errors.ts'
import { networkOf } from '../../lib/limits/client-network.ts'

/** The longest queue of passwords to hash; each takes 19 MiB and about 30 ms of one core. */
const queuedMax = 64
/** The part of the queue that passwords of one network may fill. */
const queuedPerNetworkMax = 4

/** Where a password to hash comes from. */
export type PasswordSource = {
  readonly clientIp: string
  /** Whether the user has recently been active from the address. Such passwords are hashed first. */
  readonly isKnownAddress: boolean
}

export type PasswordQueue = {
  /**
   * Runs `hash` once no other hash runs.
   *
   * @throws HttpError 503 with Retry-After if the queue, or the part of the network, is full.
   */
  readonly enqueue: <Hash>(source: PasswordSource, hash: () => Promise<Hash>) => Promise<Hash>
}

type WaitingPassword = { readonly network: string; readonly start: () => void }

/**
 * Runs one hash at a time, so that many sign-in attempts exhaust neither memory nor cores. Each of
 * the two classes of addresses has a separate queue, so that the wait is at most about
 * 128 × 30 ms for a known address and no flood of other passwords delays or rejects it.
 */
export function createPasswordQueue(): PasswordQueue {
  const waiting: Record<'known' | 'unknown', WaitingPassword[]> = { known: [], unknown: [] }
  let isRunning = false

  async function enqueue<Hash>(source: PasswordSource, hash: () => Promise<Hash>): Promise<Hash> {
    const queue = waiting[source.isKnownAddress ? 'known' : 'unknown']
    const network = networkOf(source.clientIp)
    const ofNetwork = queue.filter((waitingPassword) => waitingPassword.network === network)
    if (queue.length >= queuedMax || ofNetwork.length >= queuedPerNetworkMax) throw queueFullError()
    if (isRunning) await new Promise<void>((start) => queue.push({ network, start }))
    isRunning = true
    try {
      return await hash()
    } finally {
      const next = waiting.known.shift() ?? waiting.unknown.shift()
      if (next) next.start()
      else isRunning = false
    }
  }
  return { enqueue }
}

const queueFullError = (): HttpError =>
  new HttpError(503, 'Too many sign-ins are in progress. Try again in 2 s.', {
    headers: { 'retry-after': '2' },
  })
