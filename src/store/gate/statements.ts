import type { AttemptKey, AdmissionFacts } from '../tx.ts'
import type { CallRow } from '../schema.ts'
import type { Score } from './hourly-counts.ts'

/** A call that is to be claimed by one statement, if nothing stands against it. */
export type AdmitStatementInput = {
  /** Of the key. */
  readonly projectId: string
  readonly keyId: string
  readonly action: string
  /** In lower case. */
  readonly requestId: string
  /** All that the key must have. */
  readonly permissions: readonly string[]
  readonly nowMs: number
  readonly nowUtc: string
  /** A last use until then is written down anew. */
  readonly touchedBeforeUtc: string
  readonly steadyUs: number
  /** For projects and accounts that have none of their own. */
  readonly sustainedPerS: number
  readonly burst: number
  readonly defaultMicros: bigint
  /** The price, in units. */
  readonly units: number
  readonly fingerprint: Uint8Array
  readonly token: string
  readonly deadlineMs: number
}

/** What it was claimed by: the bucket as it was before. */
export type AdmitStatementRow = Pick<
  AdmissionFacts,
  'sustainedPerS' | 'burst' | 'fullAtUs' | 'unitMicros'
>

/** The end of a call with its answer. */
export type SettleStatementInput = AttemptKey & {
  readonly token: string
  readonly code: string
  readonly answer: Uint8Array
  readonly scrubbed: Uint8Array | null
  /** Whom the answer names. */
  readonly subjectIds: readonly string[]
  /** What was set aside, and what of it is due. */
  readonly reservedMicros: bigint
  readonly amountMicros: bigint
  readonly action: string
  readonly windowStartMs: number
  readonly nowMs: number
  /** The text that the charge is hashed as, before its number in the chain and after it. */
  readonly link: { readonly before: string; readonly after: string }
  readonly scores: readonly Score[]
  readonly row: Pick<CallRow, 'atMs' | 'keyId' | 'requestId' | 'action' | 'latencyMs'>
}

export type SettleStatementResult = {
  /** The charge; null: nothing was due. */
  readonly transferId: number | null
}
