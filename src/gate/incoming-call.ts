import type { Micros } from '../lib/money.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { RequestFingerprint } from './fingerprint.ts'

/** A call as it comes to the gate: understood, or with what is wrong about it. */
export type IncomingCall = {
  /** As the answer echoes it. */
  readonly requestId: string
  readonly action: string
  /** When it came, by `performance.now()`. */
  readonly startMs: number
  readonly parsed: BillableCall | { readonly error: unknown }
}

export type BillableCall = {
  readonly action: { readonly price: (imageCount: number) => number }
  readonly params: unknown
  readonly debug: boolean
  /** All that the key must have. */
  readonly permissions: readonly string[]
}

/** The call of a known key, as every row of the log needs it. */
export type AuthenticatedCall = Omit<IncomingCall, 'parsed'> & {
  readonly caller: KeyIdentity
  /** When it came, by the time of day. */
  readonly atMs: number
}

/** Leave to work, once: whoever holds it must settle or release it. */
export type Admission = Reservation & {
  /** Tells twins that wait. */
  readonly complete: () => void
}

/** What the gate has written down of a call that passed. */
export type Reservation = {
  readonly call: AuthenticatedCall
  readonly projectId: string
  /** In lower case: two spellings of a UUID are one request. */
  readonly requestId: string
  readonly token: string
  readonly fingerprint: RequestFingerprint
  readonly windowStartMs: number
  /** The frozen price of the whole call, set aside. */
  readonly reservedMicros: Micros
  /** The price if so many of its images failed. */
  readonly priceMicros: (failedCount: number) => Micros
}
