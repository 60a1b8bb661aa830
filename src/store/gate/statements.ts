import type { Selectable } from 'kysely'
import { type Micros, microsMax } from '../../lib/money.ts'
import type { CallDecision } from '../../lib/observability/call-decision.ts'
import type { AttemptRow, LedgerRow, NewCallRow, TransferRow } from '../schema.ts'
import type { CountedCall, Score } from './hourly-counts.ts'

export type StatementParameters = Readonly<
  Record<string, string | number | bigint | Uint8Array | null>
>

/**
 * Runs portable statements: names are quoted, parameters are `:named`, and rows are locked as on
 * PostgreSQL; SQLite has one writer and ignores the locks. Each text is prepared once. The caller
 * declares the type of the rows.
 */
export type StatementRunner = {
  readonly all: <Row>(sql: string, parameters: StatementParameters) => Promise<readonly Row[]>
  /** @returns the number of changed rows. */
  readonly run: (sql: string, parameters: StatementParameters) => Promise<number>
  /** Runs a statement whose result is not needed. PostgreSQL does not wait for it. */
  readonly send: (sql: string, parameters: StatementParameters) => void
  /** Adds a call to the counts of its hour, whose histograms differ between the engines. */
  readonly countCall: (row: CountedCall) => void
}

export async function findFirst<Row>(
  { all }: StatementRunner,
  sql: string,
  parameters: StatementParameters,
) {
  return (await all<Row>(sql, parameters))[0]
}

export type AttemptKey = { readonly projectId: string; readonly requestId: string }
export type AttemptOwner = AttemptKey & { readonly token: string }

/** What a completed call stores for replays. */
export type CompletedAttempt = {
  readonly code: string
  readonly response: Uint8Array
  readonly scrubbed: Uint8Array | null
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

export type AttemptStatements = ReturnType<typeof attemptStatements>

type NewAttempt = Omit<AttemptRow, 'state' | 'code' | 'response' | 'scrubbed'>

export function attemptStatements({ all, run, send }: StatementRunner) {
  return {
    insert: async (row: NewAttempt) => send(insertAttemptSql, row),
    /** Deletes a running attempt with this token. @returns whether it matched. */
    deleteOwned: async (owner: AttemptOwner) => (await run(deleteOwnedAttemptSql, owner)) === 1,
    /** @returns whether the attempt existed: of two concurrent deletions only one returns true. */
    delete: async (key: AttemptKey) => (await run(deleteAttemptSql, key)) === 1,
    findOverdue: (filter: { readonly deadlineMs: number; readonly limit: number }) =>
      all<AttemptRow>(selectOverdueAttemptsSql, filter),
  }
}

const isAttemptSql = '"projectId" = :projectId and "requestId" = :requestId'
export const findAttemptSql = `select * from attempts where ${isAttemptSql} for update`
const deleteAttemptSql = `delete from attempts where ${isAttemptSql}`

/** The condition for the owner of a running attempt. */
const isOwnerSql = `${isAttemptSql} and token = :token and state = 'running'`
const deleteOwnedAttemptSql = `delete from attempts where ${isOwnerSql}`

export const completeAttemptSql = `update attempts set state = 'done', "reservedMicros" = 0,
    code = :code, response = :response, scrubbed = :scrubbed
  where ${isOwnerSql}`

export const insertAttemptSql = `insert into attempts ("projectId", "requestId", "keyId", action,
    fingerprint, state, token, "reservedMicros", "deadlineMs", "windowStartMs")
  values (:projectId, :requestId, :keyId, :action, :fingerprint, 'running', :token,
    :reservedMicros, :deadlineMs, :windowStartMs)`

const selectOverdueAttemptsSql = `select * from attempts
  where state = 'running' and "deadlineMs" < :deadlineMs
  order by "deadlineMs" limit :limit for update skip locked`

export type LedgerHead = Pick<Selectable<LedgerRow>, 'headSeq' | 'headHash'>
type LedgerAmount = { readonly ledger: string; readonly amountMicros: bigint }

export type LedgerStatements = ReturnType<typeof ledgerStatements>

export function ledgerStatements(runner: StatementRunner) {
  const { run, send } = runner
  const updateBalance = (sql: string) => async (amount: LedgerAmount) =>
    (await run(sql, amount)) === 1
  return {
    findHead: (ledger: string) => findFirst<LedgerHead>(runner, selectHeadSql, { ledger }),
    setHead: async (head: LedgerHead & { readonly ledger: string }) => send(setHeadSql, head),
    /** `reserve` and `debit` return false if the free balance is too small; then nothing changes. */
    reserve: updateBalance(reserveSql),
    debit: updateBalance(debitSql),
    unreserve: updateBalance(unreserveSql),
    /** @returns false if the new balance would exceed the maximum. */
    credit: updateBalance(creditSql),
    /** Makes the event `budget.exhausted` due if the balance is smaller than a price. */
    reportShortage: async (price: LedgerAmount) => send(reportShortageSql, price),
    /** @returns the id of the new transfer. */
    append: async (row: Omit<TransferRow, 'transferId'>) => {
      const inserted = await findFirst<NewTransfer>(runner, appendTransferSql, row)
      if (!inserted) throw new Error('the insert of a ledger transfer returned no id')
      return inserted.transferId
    },
  }
}

type NewTransfer = Pick<Selectable<TransferRow>, 'transferId'>

const selectHeadSql = 'select "headSeq", "headHash" from ledgers where ledger = :ledger for update'
const setHeadSql =
  'update ledgers set "headSeq" = :headSeq, "headHash" = :headHash where ledger = :ledger'

const hasFreeBalanceSql = '"balanceMicros" - "reservedMicros" >= :amountMicros'
const reserveSql = `update ledgers set "reservedMicros" = "reservedMicros" + :amountMicros
  where ledger = :ledger and ${hasFreeBalanceSql}`
const unreserveSql = `update ledgers set "reservedMicros" = "reservedMicros" - :amountMicros
  where ledger = :ledger`
const debitSql = `update ledgers set "balanceMicros" = "balanceMicros" - :amountMicros
  where ledger = :ledger and ${hasFreeBalanceSql}`
const creditSql = `update ledgers set "balanceMicros" = "balanceMicros" + :amountMicros
  where ledger = :ledger and "balanceMicros" <= ${microsMax} - :amountMicros`
const reportShortageSql = `update ledgers
  set "exhaustedAtMicros" = cast(:amountMicros as bigint) - 1
  where ledger = :ledger and "exhaustedAtMicros" < :amountMicros and "balanceMicros" < :amountMicros`

export const insertTransferSql = `insert into "ledgerTransfers" (chain, seq, kind, "fromLedger",
    "toLedger", "amountMicros", "atMs", "projectId", "requestId", "windowStartMs", "rowHash")
  values (:chain, :seq, :kind, :fromLedger, :toLedger, :amountMicros, :atMs, :projectId,
    :requestId, :windowStartMs, :rowHash)`

const appendTransferSql = `${insertTransferSql} returning "transferId"`
