import type { Micros } from '../lib/money.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { RequestDescription } from './call-detail.ts'
import type { RequestFingerprint } from './fingerprint.ts'

/** A call as it arrives at the gate: parsed, or with the reason why it could not be parsed. */
export type IncomingCall = {
  /** In the spelling of the response. */
  readonly requestId: string
  readonly action: string
  /** Time of arrival, by `performance.now()`. */
  readonly startMs: number
  readonly parsed: BillableCall | UnparsedCall
  /** Describes the request for the request log. It is called only if the call fails. */
  readonly describeRequest?: (() => RequestDescription) | undefined
}

/** The reason why a call could not be parsed, and the permissions that it needs in any case. */
export type UnparsedCall = {
  readonly error: unknown
  readonly permissions?: readonly string[]
}

export type BillableCall = {
  readonly action: { readonly price: (imageCount: number, params: unknown) => number }
  readonly params: unknown
  readonly debug: boolean
  /** The key needs all of them. */
  readonly permissions: readonly string[]
}

/** The call of an authenticated key, with the fields of its log row. */
export type AuthenticatedCall = Omit<IncomingCall, 'parsed'> & {
  readonly caller: KeyIdentity
  /** Time of arrival, by the wall clock. */
  readonly atMs: number
}

/** Permission to run an action once. Its owner must settle, finish or release it. */
export type Admission = Reservation & {
  /** Resumes the retries that wait for this call in this process. */
  readonly complete: () => void
}

/** The stored record of an admitted call. */
export type Reservation = {
  readonly call: AuthenticatedCall
  readonly projectId: string
  /** In lower case: two spellings of a UUID are one request. */
  readonly requestId: string
  readonly token: string
  readonly fingerprint: RequestFingerprint
  readonly windowStartMs: number
  /** The reserved price of the whole call; later price changes do not affect it. 0: not billed. */
  readonly reservedMicros: Micros
  /** Whether the call is charged; if not, its price is only recorded. Fixed at admission. */
  readonly isBilled: boolean
  /** The price when the given number of images failed. */
  readonly priceMicros: (failedCount: number) => Micros
}
