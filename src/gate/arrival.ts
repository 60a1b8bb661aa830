import type { Micros } from '../lib/money.ts'
import type { KeyFacts } from '../store/keys.ts'
import type { Fingerprint } from './seal.ts'

/** A call as it comes to the gate: understood, or with what is wrong about it. */
export type Arrival = {
  /** As the answer echoes it. */
  readonly requestId: string
  readonly action: string
  /** When it came, by `performance.now()`. */
  readonly startMs: number
  readonly asked: UnderstoodCall | { readonly error: unknown }
}

export type UnderstoodCall = {
  readonly action: { readonly price: (imageCount: number) => number }
  readonly params: unknown
  readonly debug: boolean
  /** All that the key must have. */
  readonly permissions: readonly string[]
}

/** The call of a known key, as every row of the log needs it. */
export type Visit = Omit<Arrival, 'asked'> & {
  readonly caller: KeyFacts
  /** When it came, by the time of day. */
  readonly atMs: number
}

/** Leave to work, once: whoever holds it must settle or release it. */
export type Pass = Attempt & {
  /** Tells twins that wait. */
  readonly end: () => void
}

/** What the gate has written down of a call that passed. */
export type Attempt = {
  readonly visit: Visit
  readonly projectId: string
  /** In lower case: two spellings of a UUID are one request. */
  readonly requestId: string
  readonly token: string
  readonly content: Fingerprint
  readonly windowStartMs: number
  /** The frozen price of the whole call, set aside. */
  readonly reservedMicros: Micros
  /** The price if so many of its images failed. */
  readonly priceMicros: (failedCount: number) => Micros
}
