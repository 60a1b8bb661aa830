import type { Selectable } from 'kysely'
import { microsMax } from '../../lib/money.ts'
import { noDecision } from '../../lib/observability/call-decision.ts'
import type { AttemptRow, TransferRow } from '../schema.ts'
import type { ReadTx, Tx } from '../database.ts'
import type { CountedCall } from './hourly-counts.ts'
import { budgetLedger } from '../tenancy/projects.ts'
import { admissionFactsOf, type BudgetState, type KeyFactsRow } from './admission-facts.ts'
import type { AttemptStatements, LedgerAmount, LedgerHead, LedgerStatements } from './statements.ts'

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

type CallStatements = Omit<Tx, keyof ReadTx | 'savepoint' | 'lock' | 'settleCall'>

/** Returns the statements of a job that are the same on both engines. */
export function createCallStatements(runner: StatementRunner): CallStatements {
  const { run, send, countCall } = runner
  return {
    findAdmissionFacts: async (call) => {
      // They are sent together; each reads what was committed before its turn.
      const [key, attempt, budget] = await Promise.all([
        first<KeyFactsRow>(runner, selectKeyFactsSql, call),
        first<AttemptRow>(runner, findAttemptSql, call),
        first<BudgetState>(runner, selectBudgetSql, { ledger: budgetLedger(call.projectId) }),
      ])
      return admissionFactsOf({ key, budget, attempt })
    },
    touchKey: async (key) => send(touchKeySql, key),
    updateBucket: async (bucket) => send(updateBucketSql, bucket),
    logCall: async (row) => {
      send(insertCallSql, { ...noDecision, detail: null, ...row })
      countCall(row)
    },
    sweepCalls: async (range) => {
      const sweptRows = await run(deleteOldCallsSql, range)
      if (sweptRows > 0) await run(markSweptSql, range)
      return sweptRows
    },
    attempts: attemptStatements(runner),
    ledger: ledgerStatements(runner),
  }
}

async function first<Row>({ all }: StatementRunner, sql: string, parameters: StatementParameters) {
  return (await all<Row>(sql, parameters))[0]
}

/**
 * Selects the columns of `KeyFactsRow`, and further ones. It locks the project's bucket, so the
 * admissions of a project run one by one.
 */
export function keyFactsSql(furtherColumns = ''): string {
  return `select permissions, "expiresAtUtc", "revokedAtUtc", "lastUsedAtUtc", "sustainedPerS", burst,
      billing, "fullAtUs", "unitMicros"${furtherColumns}
    from keys join projects using ("projectId") join buckets using ("projectId")
    left join prices on prices."accountId" = projects."accountId" and prices.action = :action
    where "keyId" = :keyId and "projectId" = :projectId for update of buckets`
}

const selectKeyFactsSql = keyFactsSql()

export const selectBudgetSql = `select "balanceMicros", "reservedMicros", "headSeq", "headHash",
    "lowAtMicros", "exhaustedAtMicros"
  from ledgers where ledger = :ledger`

export const touchKeySql = 'update keys set "lastUsedAtUtc" = :atUtc where "keyId" = :keyId'

export const updateBucketSql =
  'update buckets set "fullAtUs" = :fullAtUs where "projectId" = :projectId'

export const insertCallSql = `insert into calls ("atMs", "keyId", "projectId", "requestId", action,
    code, "latencyMs", "costMicros", "meteredMicros", "isReplay", "transferId", detail, outcome,
    similarity, "livenessScore", threshold, margin, quality, reason, "nearMiss")
  values (:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :costMicros,
    :meteredMicros, :isReplay, :transferId, :detail, :outcome, :similarity, :livenessScore,
    :threshold, :margin, :quality, :reason, :nearMiss)`

export const countScoreSql = `insert into "scoreHours" as h ("projectId", kind, "hourMs", bin, count,
    matched)
  values (:projectId, :kind, :hourMs, :bin, 1, :matched)
  on conflict ("projectId", kind, "hourMs", bin)
  do update set count = h.count + 1, matched = h.matched + excluded.matched`

const deleteOldCallsSql = `with listed as materialized (
  select "callId", "atMs" from calls where "atMs" < :beforeMs and (select "isFrozen" from projects p
    where p."projectId" = calls."projectId") = 0 order by "atMs" limit :limit
  for update skip locked)
  delete from calls where ("callId", "atMs") in (select "callId", "atMs" from listed)`

/** Records up to when rows of the log were deleted: the audit expects no earlier rows. */
export const markSweptSql = `insert into watermarks (name, "valueMs")
  values ('callsSweptBefore', :beforeMs)
  on conflict (name) do update set "valueMs" = excluded."valueMs"
  where excluded."valueMs" > watermarks."valueMs"`

function attemptStatements(runner: StatementRunner): AttemptStatements {
  const { all, run, send } = runner
  return {
    insert: async (row) => send(insertAttemptSql, row),
    deleteOwned: async (owner) => (await run(deleteOwnedAttemptSql, owner)) === 1,
    delete: async (key) => (await run(deleteAttemptSql, key)) === 1,
    findOverdue: (filter) => all<AttemptRow>(selectOverdueAttemptsSql, filter),
  }
}

const isAttemptSql = '"projectId" = :projectId and "requestId" = :requestId'
const findAttemptSql = `select * from attempts where ${isAttemptSql} for update`
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

function ledgerStatements(runner: StatementRunner): LedgerStatements {
  const { run, send } = runner
  const updateBalance = (sql: string) => async (amount: LedgerAmount) =>
    (await run(sql, amount)) === 1
  return {
    findHead: (ledger) => first<LedgerHead>(runner, selectHeadSql, { ledger }),
    setHead: async (row) => send(setHeadSql, row),
    reserve: updateBalance(reserveSql),
    unreserve: updateBalance(unreserveSql),
    debit: updateBalance(debitSql),
    credit: updateBalance(creditSql),
    reportShortage: async (price) => send(reportShortageSql, price),
    append: async (row) => {
      const inserted = await first<NewTransfer>(runner, appendTransferSql, row)
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
