import type { Selectable } from 'kysely'
import type { AttemptRow, CallRow, KeyRow, LedgerRow, ProjectRow, TransferRow } from '../schema.ts'
import type { Score } from './hourly-counts.ts'

/** All facts that admission depends on, as this transaction reads them. */
export type AdmissionFacts = Pick<
  Selectable<KeyRow>,
  'permissions' | 'expiresAtUtc' | 'revokedAtUtc' | 'lastUsedAtUtc'
> &
  Pick<Selectable<ProjectRow>, 'sustainedPerS' | 'burst' | 'billing'> & {
    /** The time at which the project's bucket is full again; null before its first call. */
    readonly fullAtUs: number | null
    /** The account's price of one unit of the action; null: the default price. */
    readonly unitMicros: bigint | null
  } & Pick<Selectable<LedgerRow>, 'balanceMicros' | 'exhaustedAtMicros'>

export type AttemptKey = { readonly projectId: string; readonly requestId: string }
export type AttemptOwner = AttemptKey & { readonly token: string }

export type AttemptStatements = {
  readonly find: (key: AttemptKey) => Promise<AttemptRow | undefined>
  readonly insert: (
    row: Omit<AttemptRow, 'state' | 'code' | 'answer' | 'scrubbed'>,
  ) => Promise<void>
  /** `complete` and `deleteOwned` require the token of a running attempt. @returns whether it matched. */
  readonly complete: (
    owner: AttemptOwner & {
      readonly code: string
      readonly answer: Uint8Array
      readonly scrubbed: Uint8Array | null
    },
  ) => Promise<boolean>
  readonly deleteOwned: (owner: AttemptOwner) => Promise<boolean>
  /** @returns whether the attempt existed: of two concurrent deletions only one returns true. */
  readonly delete: (key: AttemptKey) => Promise<boolean>
  readonly findOverdue: (filter: {
    readonly deadlineMs: number
    readonly limit: number
  }) => Promise<readonly AttemptRow[]>
  /** Deletes completed attempts whose window began at that time or earlier. @returns the number. */
  readonly deleteExpired: (filter: {
    readonly windowStartMs: number
    readonly limit: number
  }) => Promise<number>
}

export type LedgerHead = Pick<Selectable<LedgerRow>, 'headSeq' | 'headHash'>
export type LedgerAmount = { readonly ledger: string; readonly amountMicros: bigint }

export type LedgerStatements = {
  readonly findHead: (ledger: string) => Promise<LedgerHead | undefined>
  readonly setHead: (head: LedgerHead & { readonly ledger: string }) => Promise<void>
  /** `reserve` and `debit` return false if the free balance is too small; then nothing changes. */
  readonly reserve: (amount: LedgerAmount) => Promise<boolean>
  readonly debit: (amount: LedgerAmount) => Promise<boolean>
  readonly unreserve: (amount: LedgerAmount) => Promise<boolean>
  /** Makes the event `budget.exhausted` due if the balance is smaller than a price. */
  readonly reportShortage: (price: LedgerAmount) => Promise<void>
  /** @returns false if the new balance would exceed the maximum. */
  readonly credit: (amount: LedgerAmount) => Promise<boolean>
  /** @returns the id of the new transfer. */
  readonly append: (row: Omit<TransferRow, 'transferId'>) => Promise<number>
}

/** A call to be admitted by one statement. */
export type AdmitStatementInput = {
  /** The project of the key. */
  readonly projectId: string
  readonly keyId: string
  /** The call is admitted only if the key and its project still have this version; null: any. */
  readonly keyVersion: string | null
  readonly action: string
  /** In lower case. */
  readonly requestId: string
  /** The key must have all of these. */
  readonly permissions: readonly string[]
  readonly nowMs: number
  readonly nowUtc: string
  /** The key's last use is updated if the stored time is this one or earlier. */
  readonly touchedBeforeUtc: string
  readonly steadyUs: number
  /** Defaults for projects without limits and for accounts without a price. */
  readonly sustainedPerS: number
  readonly burst: number
  readonly defaultMicros: bigint
  /** The price, in units. */
  readonly units: number
  readonly fingerprint: Uint8Array
  readonly token: string
  readonly deadlineMs: number
}

/** The limits, price and billing of an admitted call; `fullAtUs` is the bucket's value before the call. */
export type AdmitStatementRow = Pick<
  AdmissionFacts,
  'sustainedPerS' | 'burst' | 'billing' | 'fullAtUs' | 'unitMicros'
>

/** A completed call with its response. */
export type SettleStatementInput = AttemptKey & {
  readonly token: string
  readonly code: string
  readonly answer: Uint8Array
  readonly scrubbed: Uint8Array | null
  /** The subjects that the response names. */
  readonly subjectIds: readonly string[]
  /** The reserved price, and the part of it that is charged. */
  readonly reservedMicros: bigint
  readonly amountMicros: bigint
  /** The price of a call that is not charged, because the project's billing is off. */
  readonly meteredMicros: bigint
  readonly action: string
  readonly windowStartMs: number
  readonly nowMs: number
  /** The hashed text of the charge, before and after its sequence number in the chain. */
  readonly link: { readonly before: string; readonly after: string }
  readonly scores: readonly Score[]
  readonly row: Pick<CallRow, 'atMs' | 'keyId' | 'requestId' | 'action' | 'latencyMs'>
}

export type SettleStatementResult = {
  /** The charge; null: nothing was charged. */
  readonly transferId: number | null
}
