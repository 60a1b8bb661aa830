import crypto, { randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { unavailable } from '../../lib/errors.ts'
import { networkOf } from '../../lib/limits/client-network.ts'

/**
 * The minimum of OWASP's Password Storage Cheat Sheet: argon2id with 19 MiB, 2 passes, 1 lane. Each
 * hash stores its parameters, so that old hashes still verify after these are raised.
 */
const currentParameters = { memoryKib: 19_456, passes: 2, lanes: 1 }

type Argon2Parameters = typeof currentParameters

const saltBytes = 16
const hashBytes = 32

// Not a named import: Node 22 lacks the function, and the package adds it there.
const runArgon2 = promisify(crypto.argon2)

export type PasswordHasher = ReturnType<typeof createPasswordHasher>

/**
 * Hashes one password at a time, see `createPasswordQueue`.
 *
 * @param parameters of new hashes. Tests use lower ones where the time of a hash does not matter.
 */
export function createPasswordHasher(parameters: Argon2Parameters = currentParameters) {
  const queue = createPasswordQueue()
  const dummySalt = randomBytes(saltBytes)

  return {
    /**
     * Returns the hash with its salt and parameters, as text in PHC format.
     *
     * @throws HttpError 503 when the queue of the source is full.
     */
    hash: async (password: string, source: PasswordSource): Promise<string> => {
      const salt = randomBytes(saltBytes)
      const hash = await queue.enqueue(source, () => derive(password, salt, parameters))
      return formatPhc(parameters, salt, hash)
    },
    /**
     * Whether the password matches the stored hash. The cost is the same without a stored hash.
     *
     * @throws HttpError 503 when the queue of the source is full.
     */
    matches: async (
      password: string,
      stored: string | null,
      source: PasswordSource,
    ): Promise<boolean> => {
      const parsed = stored === null ? undefined : parsePhc(stored)
      const { salt, parameters: used } = parsed ?? { salt: dummySalt, parameters }
      const hash = await queue.enqueue(source, () => derive(password, salt, used))
      return parsed !== undefined && timingSafeEqual(hash, parsed.hash)
    },
  }
}

/** Normalizes the password first: two keyboards may compose the same letter differently. */
function derive(
  password: string,
  salt: Uint8Array,
  { memoryKib, passes, lanes }: Argon2Parameters,
) {
  return runArgon2('argon2id', {
    message: password.normalize('NFC'),
    nonce: salt,
    memory: memoryKib,
    passes,
    parallelism: lanes,
    tagLength: hashBytes,
  })
}

function formatPhc({ memoryKib, passes, lanes }: Argon2Parameters, salt: Buffer, hash: Buffer) {
  const encode = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${encode(salt)}$${encode(hash)}`
}

function parsePhc(text: string) {
  const pattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/u
  const [, memoryKib, passes, lanes, salt = '', hash = ''] = pattern.exec(text) ?? []
  if (hash === '') throw new Error('a stored password hash has an unknown format')
  return {
    parameters: { memoryKib: Number(memoryKib), passes: Number(passes), lanes: Number(lanes) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

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

type WaitingPassword = { readonly network: string; readonly start: () => void }

/**
 * Runs one hash at a time, so that many sign-in attempts exhaust neither memory nor cores. Each of
 * the two classes of addresses has a separate queue, so that the wait is at most about
 * 128 × 30 ms for a known address and no flood of other passwords delays or rejects it.
 */
export function createPasswordQueue() {
  const waiting: Record<'known' | 'unknown', WaitingPassword[]> = { known: [], unknown: [] }
  let isRunning = false

  /**
   * Runs `hash` once no other hash runs.
   *
   * @throws HttpError 503 with Retry-After if the queue, or the part of the network, is full.
   */
  async function enqueue<Hash>(source: PasswordSource, hash: () => Promise<Hash>): Promise<Hash> {
    const queue = waiting[source.isKnownAddress ? 'known' : 'unknown']
    const network = networkOf(source.clientIp)
    const ofNetwork = queue.filter((waitingPassword) => waitingPassword.network === network)
    if (queue.length >= queuedMax || ofNetwork.length >= queuedPerNetworkMax)
      throw unavailable('Too many sign-ins are in progress. Try again in 2 s.', 2)
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
