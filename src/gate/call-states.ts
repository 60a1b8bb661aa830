import type { Micros } from '../lib/money.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { RequestFingerprint } from './request-fingerprint.ts'

/*
 * The states of a call: received → authenticated → admitted → completed (`settle.ts`). A received call
 * that could not be read is rejected, and has no content.
 */

/** A call whose request was read, with the fields that its log row and its response repeat. */
export type ReceivedCall = {
  /** In the spelling of the response. */
  readonly requestId: string
  readonly action: string
  /** Time of arrival, by `performance.now()`. */
  readonly startMs: number
  /** Describes the request for the request log. It is called only if the call fails. */
  readonly describeRequest?: (() => RequestDescription) | undefined
}

/** What the gate checks and bills of a received call. A retry has the same content. */
export type CallContent = {
  readonly action: {
    readonly price: (imageCount: number, params: unknown) => number
    readonly replayScope?: string
  }
  readonly params: unknown
  readonly debug: boolean
  /** The key needs all of them. */
  readonly permissions: readonly string[]
  /** The key needs them for a stored response; a call that runs requires them itself. */
  readonly replayPermissions?: readonly string[]
}

/** The reason why a received call has no content, and the permissions that it needs in any case. */
export type UnreadableContent = {
  readonly error: unknown
  readonly permissions?: readonly string[]
}

/** A received call with its key, and the fields of its log row. */
export type AuthenticatedCall = ReceivedCall & {
  readonly caller: KeyIdentity
  /** Time of arrival, by the wall clock. */
  readonly atMs: number
}

/** Permission to run a call once. Its owner must settle, finish or release it. */
export type AdmittedCall = Reservation & {
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

/** A parameter that is an option of the call: no text of the caller. */
type LoggedParameter = number | boolean | string | readonly string[]

/** What the request log may contain of a request. */
export type RequestDescription = {
  /** Names of the API. Any other name in a path is a text of the caller. */
  readonly names: ReadonlySet<string>
  /** Texts of the caller. Messages are stored without them. */
  readonly texts: readonly string[]
  /** Options by name. Of other parameters, only their presence or their count. */
  readonly parameters: Readonly<Record<string, LoggedParameter>>
}
