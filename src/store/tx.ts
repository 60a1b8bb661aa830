import type { Compilable, Selectable } from 'kysely'
import type { SettleStatementResult, SettleStatementInput } from './gate/statements.ts'
import type { Database } from './database.ts'
import type { Score } from './gate/hourly-counts.ts'
import type {
  AttemptRow,
  BucketRow,
  CallRow,
  KeyRow,
  LedgerRow,
  ProjectRow,
  TransferRow,
} from './schema.ts'

/** What can be asked of one state of the database. */
export type ReadTx = {
  /** Builds queries for `run`; it runs none itself. */
  readonly build: Database
  readonly run: <Row>(query: Compilable<Row>) => Promise<readonly Row[]>
}

/**
 * What a job can ask and write within its transaction. The few hot statements have names here and are
 * prepared; anything else goes through `run`, built by kysely. A job waits for nothing else than
 * these: others may wait for it.
 */
export type Tx = ReadTx & {
  /** Work whose writes are taken back, all of them, when it throws. */
  readonly savepoint: <T>(work: () => Promise<T>) => Promise<T>
  /**
   * Waits until nobody else holds the name, and holds it to the end of the transaction: alone, or
   * together with others who ask so. Where there is one writer, nobody else can.
   */
  readonly lock: (name: string, mode: 'alone' | 'together') => Promise<void>
  readonly findAdmissionFacts: (of: {
    readonly keyId: string
    readonly action: string
  }) => Promise<AdmissionFacts | undefined>
  readonly touchKey: (key: { readonly keyId: string; readonly atUtc: string }) => Promise<void>
  readonly upsertBucket: (bucket: BucketRow) => Promise<void>
  readonly attempts: AttemptStatements
  readonly ledger: LedgerStatements
  /** Counts a score of a call for the charts. */
  readonly countScore: (score: Score, of: Pick<CallRow, 'atMs' | 'projectId'>) => Promise<void>
  /** Adds a row to the request log, and counts it in its hour. */
  readonly logCall: (row: Omit<CallRow, 'callId'>) => Promise<void>
  /** Deletes the oldest rows of the log, and marks how far. @returns how many. */
  readonly sweepCalls: (old: {
    readonly beforeMs: number
    readonly limit: number
  }) => Promise<number>
  /**
   * Ends a call with its answer by one statement, where that spares round trips; nothing may follow
   * it. @returns undefined when the attempt is not the caller's any more: then nothing was written.
   */
  readonly settleInOneStatement?: (
    settlement: SettleStatementInput,
  ) => Promise<SettleStatementResult | undefined>
}

/** Everything that the gate decides by, as it stands in this transaction. */
export type AdmissionFacts = Pick<
  Selectable<KeyRow>,
  'permissions' | 'expiresAtUtc' | 'revokedAtUtc' | 'lastUsedAtUtc'
> &
  Pick<Selectable<ProjectRow>, 'sustainedPerS' | 'burst'> & {
    /** When the project's bucket is full again; null before its first call. */
    readonly fullAtUs: number | null
    /** The account's own price of one unit of the action; null: the default. */
    readonly unitMicros: bigint | null
  }

export type AttemptKey = { readonly projectId: string; readonly requestId: string }
export type AttemptOwner = AttemptKey & { readonly token: string }

type AttemptStatements = {
  readonly find: (key: AttemptKey) => Promise<AttemptRow | undefined>
  readonly insert: (
    row: Omit<AttemptRow, 'state' | 'code' | 'answer' | 'scrubbed'>,
  ) => Promise<void>
  /** The next two hold only for the owner of a running attempt. @returns whether they did. */
  readonly complete: (
    owner: AttemptOwner & {
      readonly code: string
      readonly answer: Uint8Array
      readonly scrubbed: Uint8Array | null
    },
  ) => Promise<boolean>
  readonly deleteOwned: (owner: AttemptOwner) => Promise<boolean>
  /** @returns whether it was there: of two who end the same attempt one does. */
  readonly delete: (key: AttemptKey) => Promise<boolean>
  readonly findOverdue: (before: {
    readonly deadlineMs: number
    readonly limit: number
  }) => Promise<readonly AttemptRow[]>
  /** Deletes answers whose window began at that time or before. @returns how many. */
  readonly deleteExpired: (old: {
    readonly windowStartMs: number
    readonly limit: number
  }) => Promise<number>
}

export type LedgerHead = Pick<Selectable<LedgerRow>, 'headSeq' | 'headHash'>
type LedgerAmount = { readonly ledger: string; readonly amountMicros: bigint }

type LedgerStatements = {
  readonly findHead: (ledger: string) => Promise<LedgerHead | undefined>
  readonly setHead: (head: LedgerHead & { readonly ledger: string }) => Promise<void>
  /** The next three are conditional updates. @returns false when the free balance falls short. */
  readonly reserve: (amount: LedgerAmount) => Promise<boolean>
  readonly debit: (amount: LedgerAmount) => Promise<boolean>
  readonly unreserve: (amount: LedgerAmount) => Promise<boolean>
  readonly credit: (amount: LedgerAmount) => Promise<boolean>
  /** @returns the id of the new transfer. */
  readonly append: (row: Omit<TransferRow, 'transferId'>) => Promise<number>
}
