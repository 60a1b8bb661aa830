import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { HttpError } from '../../lib/errors.ts'

/**
 * OWASP's Password Storage Cheat Sheet: argon2id with at least 19 MiB, 2 passes, 1 lane. The
 * parameters are kept with every hash, so that old ones still verify when these are raised.
 */
const currentParameters = { memoryKib: 19_456, passes: 2, lanes: 1 }

type Argon2Parameters = typeof currentParameters

const saltBytes = 16
const hashBytes = 32

/** Guesses that may wait to be hashed; each takes 19 MiB and some 30 ms of a core. */
const queuedHashesMax = 64

const runArgon2 = promisify(argon2)

export type PasswordHasher = {
  /** @returns the hash with its salt and parameters, as text of the PHC form. */
  readonly hash: (password: string) => Promise<string>
  /** The same work whether or not there is a hash to compare with. @throws HttpError 503. */
  readonly matches: (password: string, stored: string | null) => Promise<boolean>
}

/** Hashes one password at a time, so that a storm of guesses fills neither memory nor cores. */
export function createPasswordHasher(): PasswordHasher {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const nobodys = randomBytes(saltBytes)

  return {
    hash: async (password) => {
      const salt = randomBytes(saltBytes)
      return formatPhc(currentParameters, salt, await inTurn(password, salt, currentParameters))
    },
    matches: async (password, stored) => {
      const known = stored === null ? undefined : parsePhc(stored)
      const { salt, parameters } = known ?? { salt: nobodys, parameters: currentParameters }
      const hash = await inTurn(password, salt, parameters)
      return known !== undefined && timingSafeEqual(hash, known.hash)
    },
  }

  async function inTurn(password: string, salt: Uint8Array, parameters: Argon2Parameters) {
    if (waiting >= queuedHashesMax) throw new HttpError(503, 'Too many sign in at once; try again.')
    waiting++
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    try {
      await before
      return await derive(password, salt, parameters)
    } finally {
      waiting--
      resolve()
    }
  }
}

/** The password in one normal form: two keyboards may compose the same letter differently. */
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

function formatPhc(
  { memoryKib, passes, lanes }: Argon2Parameters,
  salt: Buffer,
  hash: Buffer,
): string {
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${text(salt)}$${text(hash)}`
}

function parsePhc(text: string) {
  const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/u
  const [, memoryKib, passes, lanes, salt = '', hash = ''] = shape.exec(text) ?? []
  if (hash === '') throw new Error('a stored password is of an unknown form')
  return {
    parameters: { memoryKib: Number(memoryKib), passes: Number(passes), lanes: Number(lanes) },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}
