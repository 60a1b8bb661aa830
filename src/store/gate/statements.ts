import type { Selectable } from 'kysely'
import type { Micros } from '../../lib/money.ts'
import type { CallDecision } from '../../lib/observability/call-decision.ts'
import type { AttemptRow, LedgerRow, NewCallRow, TransferRow } from '../schema.ts'
import type { Score } from './hourly-counts.ts'

export type AttemptKey = { readonly projectId: string; readonly requestId: string }
export type AttemptOwner = AttemptKey & { readonly token: string }

/** What a completed call stores for replays. */
export type CompletedAttempt = {
  readonly code: string
  readonly response: Uint8Array
  readonly scrubbed: Uint8Array | null
}

export type AttemptStatements = {
  readonly insert: (
    row: Omit<AttemptRow, 'state' | 'code' | 'response' | 'scrubbed'>,
  ) => Promise<void>
  /** Deletes a running attempt with this token. @returns whether it matched. */
  readonly deleteOwned: (owner: AttemptOwner) => Promise<boolean>
  /** @returns whether the attempt existed: of two concurrent deletions only one returns true. */
  readonly delete: (key: AttemptKey) => Promise<boolean>
  readonly findOverdue: (filter: {
    readonly deadlineMs: number
    readonly limit: number
  }) => Promise<readonly AttemptRow[]>
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

/** A completed call with its response and its price. */
export type SettlementInput = AttemptOwner &
  CompletedAttempt &
  Amounts & {
    /** The subjects that the response names. */
    readonly subjectIds: readonly string[]
    readonly scores: readonly Score[]
    readonly decision?: CallDecision | undefined
    /** The price that was reserved at admission. */
    readonly reservedMicros: Micros
    readonly action: string
    readonly windowStartMs: number
    readonly nowMs: number
    readonly row: LoggedFields
  }

/** The fields of a log row that the settlement does not determine. */
type LoggedFields = Pick<NewCallRow, 'atMs' | 'keyId' | 'requestId' | 'action' | 'latencyMs'> & {
  readonly detail: string | null
}

export type Amounts = {
  /** The part of the reserved price that is charged. */
  readonly amountMicros: Micros
  /** The price of a call that is not charged, because the project's billing is off. */
  readonly meteredMicros: Micros
}
