import crypto from 'node:crypto'
import { callbackify } from 'node:util'
import { Float16Array, getFloat16, setFloat16 } from '@petamoriken/float16'

/**
 * The parts of Node 24 that the service uses and Node 22 does not have. The package loads this file
 * before the service when it runs on Node 22.
 */
type Cleanup = () => unknown

/** A stack of resources that are released in reverse order, as `AsyncDisposableStack` of Node 24. */
export class AsyncResourceStack implements AsyncDisposable {
  #cleanups: Cleanup[] = []
  #isDisposed = false

  get disposed(): boolean {
    return this.#isDisposed
  }

  use<T extends AsyncDisposable | Disposable | null | undefined>(value: T): T {
    if (value === null || value === undefined) return value
    const dispose: unknown =
      (value as Partial<AsyncDisposable>)[Symbol.asyncDispose] ??
      (value as Partial<Disposable>)[Symbol.dispose]
    if (typeof dispose !== 'function') throw new TypeError('the resource has no dispose method')
    this.defer(() => Reflect.apply(dispose, value, []) as unknown)
    return value
  }

  adopt<T>(value: T, dispose: (value: T) => unknown): T {
    this.defer(() => dispose(value))
    return value
  }

  defer(cleanup: Cleanup): void {
    this.#assertOpen()
    this.#cleanups.push(cleanup)
  }

  /** Moves all resources to a new stack. This stack then releases nothing. */
  move(): AsyncResourceStack {
    this.#assertOpen()
    const moved = new AsyncResourceStack()
    moved.#cleanups = this.#cleanups
    this.#cleanups = []
    this.#isDisposed = true
    return moved
  }

  /** Releases all resources, also after an error. Throws the last error with the earlier ones. */
  async disposeAsync(): Promise<void> {
    if (this.#isDisposed) return
    this.#isDisposed = true
    const errors: unknown[] = []
    for (const cleanup of this.#cleanups.toReversed()) {
      try {
        await cleanup()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors.reduce(combineErrors)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync()
  }

  #assertOpen(): void {
    if (this.#isDisposed) throw new ReferenceError('the stack was disposed or moved')
  }
}

/** Creates an error as `SuppressedError` of Node 24. */
function combineErrors(suppressed: unknown, error: unknown): Error {
  const combined = new Error('an error was suppressed during disposal')
  combined.name = 'SuppressedError'
  return Object.assign(combined, { error, suppressed })
}

type PasswordHashInput = {
  readonly message: string
  readonly nonce: Uint8Array
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly tagLength: number
}

/** Hashes a password as `crypto.argon2('argon2id', …)`, in JavaScript, with pauses for other work. */
export async function hashWithArgon2id(parameters: PasswordHashInput): Promise<Buffer> {
  const { argon2idAsync } = await import('@noble/hashes/argon2.js')
  const { message, nonce, memory, passes, parallelism, tagLength } = parameters
  const costs = { m: memory, t: passes, p: parallelism, dkLen: tagLength }
  return Buffer.from(await argon2idAsync(new TextEncoder().encode(message), nonce, costs))
}

/** Replaces the one algorithm of `crypto.argon2` that the service uses. */
const argon2 = callbackify((_algorithm: 'argon2id', parameters: PasswordHashInput) =>
  hashWithArgon2id(parameters),
)

const dataViewMethods = {
  getFloat16(this: DataView, offset: number, isLittleEndian?: boolean) {
    return getFloat16(this, offset, isLittleEndian)
  },
  setFloat16(this: DataView, offset: number, value: number, isLittleEndian?: boolean) {
    setFloat16(this, offset, value, isLittleEndian)
  },
}

addMissing(globalThis, { AsyncDisposableStack: AsyncResourceStack, Float16Array })
addMissing(DataView.prototype, dataViewMethods)
addMissing(crypto, { argon2 })

function addMissing(target: object, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values))
    if (!(name in target)) Object.assign(target, { [name]: value })
}
