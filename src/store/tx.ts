import type { Compilable } from 'kysely'
import type { AdmissionFacts, CallKey } from './gate/admission-facts.ts'
import type { AttemptStatements, LedgerStatements, SettlementInput } from './gate/statements.ts'
import type { BucketRow, Database, NewCallRow } from './schema.ts'

/** Queries of one snapshot of the database. */
export type ReadTx = {
  /** Builds queries for `run`; it does not execute them itself. */
  readonly build: Database
  readonly run: <Row>(query: Compilable<Row>) => Promise<readonly Row[]>
}

/**
 * The statements of a job within its transaction. The few hot statements are prepared and have names
 * here; all others are built by kysely and go through `run`. A job awaits nothing but these
 * functions, because other jobs may wait for it.
 */
export type Tx = ReadTx & {
  /** Rolls back all writes of the work if it throws. */
  readonly savepoint: <T>(work: () => Promise<T>) => Promise<T>
  /**
   * Waits for a named lock and holds it until the transaction ends. An exclusive lock excludes all
   * others; shared locks exclude only exclusive ones. SQLite has one writer and needs no lock.
   */
  readonly lock: (name: string, mode: LockMode) => Promise<void>
  /** Reads and locks what the admission of a call depends on. @returns undefined if the key is unknown. */
  readonly findAdmissionFacts: (call: CallKey) => Promise<AdmissionFacts | undefined>
  readonly touchKey: (key: { readonly keyId: string; readonly atUtc: string }) => Promise<void>
  readonly updateBucket: (bucket: BucketRow) => Promise<void>
  readonly attempts: AttemptStatements
  readonly ledger: LedgerStatements
  /** Adds a row to the request log and to the counts of its hour. */
  readonly logCall: (row: NewCallRow) => Promise<void>
  /** Deletes the oldest rows of the log and records up to when. @returns the number of rows. */
  readonly sweepCalls: (range: {
    readonly beforeMs: number
    readonly limit: number
  }) => Promise<number>
  /**
   * Completes a call: its stored response, its charge and its log row.
   *
   * @returns false if the caller no longer owns the attempt; nothing is written then.
   */
  readonly settleCall: (settlement: SettlementInput) => Promise<boolean>
}

export type LockMode = 'exclusive' | 'shared'
