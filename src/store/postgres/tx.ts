import { microsMax } from '../../lib/money.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { scoreBinOf, hourStartMs } from '../gate/hourly-counts.ts'
import type { AttemptRow } from '../schema.ts'
import type { AdmissionFacts, LedgerAmount, LedgerHead } from '../gate/statements.ts'
import type { ReadTx, Tx } from '../tx.ts'
import type { RunBatched } from './connection/batcher.ts'
import { queryBuilder } from './connection/kysely-driver.ts'
import { settleInOneStatement } from './single-statement.ts'
import { statementName, prepare, type QueryRunner } from './connection/statement.ts'
import { sweepCalls } from './log-partitions.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

type StatementSender = Pick<PostgresTransaction, 'run' | 'send'>

/** Returns the statements of a job in its transaction. */
export function postgresTx(transaction: PostgresTransaction, runBatched: RunBatched): Tx {
  const savepoints = lazySavepoints(transaction)
  return {
    ...postgresReadTx(savepoints.runner),
    savepoint: savepoints.within,
    lock: async (name, mode) => {
      await locks[mode].run({ run: transaction.runWaiting }, { name })
    },
    ...gateStatements(savepoints.runner),
    attempts: attemptStatements(savepoints.runner),
    ledger: ledgerStatements(savepoints.runner),
    settleInOneStatement: (settlement) => settleInOneStatement(transaction, runBatched, settlement),
  }
}

/** Returns functions that build and run queries in a transaction. */
export function postgresReadTx(on: QueryRunner): ReadTx {
  return {
    build: queryBuilder,
    run: async (query) => {
      const { sql: text, parameters } = query.compile()
      const { rows } = await on.run({ text, name: statementName(text), values: parameters })
      // Kysely derives the type of a row from the query.
      return rows as never
    },
  }
}

const locks = {
  exclusive: prepare('select pg_advisory_xact_lock(hashtextextended(:name, 0))'),
  shared: prepare('select pg_advisory_xact_lock_shared(hashtextextended(:name, 0))'),
}

/**
 * Creates each savepoint with the first statement of its work. Many actions only compute, and then
 * cost no round trip. The commit releases the remaining savepoints.
 */
function lazySavepoints(transaction: PostgresTransaction) {
  /** The number of nested works that run. */
  let depth = 0
  /** The number of created savepoints, the outermost first. */
  let created = 0
  const createMissing = (): void => {
    for (; created < depth; created++) transaction.send({ text: `savepoint effect_${created + 1}` })
  }
  const runner: StatementSender = {
    run: (query) => {
      createMissing()
      return transaction.run(query)
    },
    send: (query) => {
      createMissing()
      transaction.send(query)
    },
  }
  const within: Tx['savepoint'] = async (work) => {
    depth++
    try {
      return await work()
    } catch (error) {
      if (created >= depth) await transaction.run({ text: `rollback to savepoint effect_${depth}` })
      throw error
    } finally {
      depth--
      created = Math.min(created, depth)
    }
  }
  return { runner, within }
}

const selectAdmissionFacts = prepare<AdmissionFacts>(
  `select permissions, "expiresAtUtc", "revokedAtUtc", "lastUsedAtUtc", "sustainedPerS", burst,
     billing, "fullAtUs", "unitMicros", "balanceMicros", "exhaustedAtMicros"
   from keys join projects using ("projectId") join buckets using ("projectId")
   join ledgers on ledger = 'budget:' || "projectId"
   left join prices on prices."accountId" = projects."accountId" and prices.action = :action
   where "keyId" = :keyId for update of buckets`,
)
const touchKey = prepare('update keys set "lastUsedAtUtc" = :atUtc where "keyId" = :keyId')
const upsertBucket = prepare(
  'update buckets set "fullAtUs" = :fullAtUs where "projectId" = :projectId',
)
const countScore = prepare('select "countScore"(:projectId, :kind, :hourMs, :bin, :matched)')
const logCall = prepare(
  `select "recordCall"(:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :bucket,
     :costMicros, :meteredMicros, :isReplay, :transferId)`,
)

/** The function that logs a call is also called by earlier versions, so it has no such parameter. */
const setCallDetail = prepare(
  `update calls set detail = :detail
   where "callId" = currval('"callIds"') and "atMs" = :atMs`,
)

/** Reading the facts locks the project's bucket, so the admissions of a project run one by one. */
function gateStatements(
  on: StatementSender,
): Pick<
  Tx,
  'findAdmissionFacts' | 'touchKey' | 'upsertBucket' | 'logCall' | 'sweepCalls' | 'countScore'
> {
  return {
    findAdmissionFacts: (call) => selectAdmissionFacts.first(on, call),
    touchKey: async (key) => touchKey.send(on, key),
    upsertBucket: async (bucket) => upsertBucket.send(on, bucket),
    logCall: async ({ detail = null, ...row }) => {
      logCall.send(on, { ...row, bucket: latencyBucketOf(row.latencyMs) + 1 })
      if (detail !== null) setCallDetail.send(on, { detail, atMs: row.atMs })
    },
    sweepCalls: (range) => sweepCalls(on, range),
    countScore: async ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      const [hourMs, bin] = [hourStartMs(atMs), scoreBinOf(value)]
      countScore.send(on, { projectId, kind, hourMs, bin, matched })
    },
  }
}

const selectAttempt = prepare<AttemptRow>(
  `select * from attempts where "projectId" = :projectId and "requestId" = :requestId for update`,
)
const insertAttempt = prepare(
  `insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
     "reservedMicros", "deadlineMs", "windowStartMs")
   values (:projectId, :requestId, :keyId, :action, :fingerprint, 'running', :token,
     :reservedMicros, :deadlineMs, :windowStartMs)`,
)
const isOwnerSql = `"projectId" = :projectId and "requestId" = :requestId and token = :token
  and state = 'running'`
const completeAttempt = prepare(
  `update attempts set state = 'done', "reservedMicros" = 0, code = :code, answer = :answer,
     scrubbed = :scrubbed
   where ${isOwnerSql}`,
)
const deleteOwnedAttempt = prepare(`delete from attempts where ${isOwnerSql}`)
const deleteAttempt = prepare(
  'delete from attempts where "projectId" = :projectId and "requestId" = :requestId',
)
const selectOverdueAttempts = prepare<AttemptRow>(
  `select * from attempts where state = 'running' and "deadlineMs" < :deadlineMs
   order by "deadlineMs" limit nullif(:limit::bigint, -1) for update skip locked`,
)
const deleteExpiredAttempts = prepare(
  `delete from attempts where ("projectId", "requestId") in (
     select "projectId", "requestId" from attempts
     where state = 'done' and "windowStartMs" <= :windowStartMs
     order by "windowStartMs" limit :limit for update skip locked)`,
)

function attemptStatements(on: StatementSender): Tx['attempts'] {
  return {
    find: (key) => selectAttempt.first(on, key),
    insert: async (row) => insertAttempt.send(on, row),
    complete: async (owner) => (await completeAttempt.run(on, owner)) === 1,
    deleteOwned: async (owner) => (await deleteOwnedAttempt.run(on, owner)) === 1,
    delete: async (key) => (await deleteAttempt.run(on, key)) === 1,
    findOverdue: (filter) => selectOverdueAttempts.all(on, filter),
    deleteExpired: (filter) => deleteExpiredAttempts.run(on, filter),
  }
}

const selectHead = prepare<LedgerHead>(
  'select "headSeq", "headHash" from ledgers where ledger = :ledger for update',
)
const setHead = prepare(
  'update ledgers set "headSeq" = :headSeq, "headHash" = :headHash where ledger = :ledger',
)
const hasRoomSql = `"balanceMicros" <= ${microsMax} - :amountMicros::bigint`
const hasFreeBalanceSql = '"balanceMicros" - "reservedMicros" >= :amountMicros::bigint'
const balanceUpdates = {
  reserve: balanceUpdate('"reservedMicros" = "reservedMicros" + :amountMicros', hasFreeBalanceSql),
  unreserve: balanceUpdate('"reservedMicros" = "reservedMicros" - :amountMicros', 'true'),
  debit: balanceUpdate('"balanceMicros" = "balanceMicros" - :amountMicros', hasFreeBalanceSql),
  credit: balanceUpdate('"balanceMicros" = "balanceMicros" + :amountMicros', hasRoomSql),
  reportShortage: balanceUpdate(
    '"exhaustedAtMicros" = :amountMicros - 1',
    '"exhaustedAtMicros" < :amountMicros and "balanceMicros" < :amountMicros',
  ),
}
const insertTransfer = prepare<{ readonly transferId: number }>(
  `insert into "ledgerTransfers" (chain, seq, kind, "fromLedger", "toLedger", "amountMicros", "atMs",
     "projectId", "requestId", "windowStartMs", "rowHash")
   values (:chain, :seq, :kind, :fromLedger, :toLedger, :amountMicros, :atMs, :projectId, :requestId,
     :windowStartMs, :rowHash) returning "transferId"`,
)

function balanceUpdate(assignment: string, condition: string) {
  return prepare(`update ledgers set ${assignment} where ledger = :ledger and ${condition}`)
}

function ledgerStatements(on: StatementSender): Tx['ledger'] {
  const runUpdate = (name: keyof typeof balanceUpdates) => async (amount: LedgerAmount) =>
    (await balanceUpdates[name].run(on, amount)) === 1
  return {
    findHead: (ledger) => selectHead.first(on, { ledger }),
    setHead: async (row) => setHead.send(on, row),
    reserve: runUpdate('reserve'),
    unreserve: runUpdate('unreserve'),
    debit: runUpdate('debit'),
    credit: runUpdate('credit'),
    reportShortage: async (price) => void (await runUpdate('reportShortage')(price)),
    append: async (row) => {
      const inserted = await insertTransfer.first(on, row)
      if (!inserted) throw new Error('the insert of a ledger transfer returned no id')
      return inserted.transferId
    },
  }
}
