import { microsMax } from '../../lib/money.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { scoreBinOf, hourStartMs } from '../gate/hourly-counts.ts'
import type { AttemptRow } from '../schema.ts'
import type { AttemptOwner, AdmissionFacts, LedgerHead, ReadTx, Tx } from '../tx.ts'
import type { RunBatched } from './connection/batcher.ts'
import { queryBuilder } from './connection/kysely.ts'
import { settleInOneStatement } from './single-statement.ts'
import { statementName, prepare, type QueryRunner } from './connection/statement.ts'
import { sweepCalls } from './log-partitions.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

type StatementSender = Pick<PostgresTransaction, 'run' | 'send'>

/** The statements of a job, in its transaction. */
export function postgresTx(running: PostgresTransaction, batches: RunBatched): Tx {
  const savepoints = lazySavepoints(running)
  return {
    ...postgresReading(savepoints.runner),
    savepoint: savepoints.within,
    lock: async (name, mode) => {
      await locks[mode].run({ run: running.runWaiting }, { name })
    },
    ...gateStatements(savepoints.runner),
    attempts: attemptStatements(savepoints.runner),
    ledger: ledgerStatements(savepoints.runner),
    settleInOneStatement: (settlement) => settleInOneStatement(running, batches, settlement),
  }
}

/** Runs queries in a transaction. */
export function postgresReading(on: QueryRunner): ReadTx {
  return {
    build: queryBuilder,
    run: async (query) => {
      const { sql: text, parameters } = query.compile()
      const { rows } = await on.run({ text, name: statementName(text), values: parameters })
      // kysely knows the type of a row by the query.
      return rows as never
    },
  }
}

const locks = {
  alone: prepare('select pg_advisory_xact_lock(hashtextextended(:name, 0))'),
  together: prepare('select pg_advisory_xact_lock_shared(hashtextextended(:name, 0))'),
}

/**
 * A savepoint is set with the first statement of its work: many an action only computes, and pays
 * no round trip for it. The commit ends those that are left.
 */
function lazySavepoints(running: PostgresTransaction) {
  let depth = 0
  /** Savepoints whose work goes on, the outermost first; those that are set. */
  let set = 0
  const setAll = (): void => {
    for (; set < depth; set++) running.send({ text: `savepoint effect_${set + 1}` })
  }
  const runner: StatementSender = {
    run: (query) => {
      setAll()
      return running.run(query)
    },
    send: (query) => {
      setAll()
      running.send(query)
    },
  }
  const within: Tx['savepoint'] = async (work) => {
    depth++
    try {
      return await work()
    } catch (error) {
      if (set >= depth) await running.run({ text: `rollback to savepoint effect_${depth}` })
      throw error
    } finally {
      depth--
      set = Math.min(set, depth)
    }
  }
  return { runner, within }
}

const selectAdmissionFacts = prepare<AdmissionFacts>(
  `select permissions, "expiresAtUtc", "revokedAtUtc", "lastUsedAtUtc", "sustainedPerS", burst,
     "fullAtUs", "unitMicros"
   from keys join projects using ("projectId") join buckets using ("projectId")
   left join prices on prices."accountId" = projects."accountId" and prices.action = :action
   where "keyId" = :keyId for update of buckets`,
)
const touchKey = prepare('update keys set "lastUsedAtUtc" = :atUtc where "keyId" = :keyId')
const upsertBucket = prepare(
  'update buckets set "fullAtUs" = :fullAtUs where "projectId" = :projectId',
)
const countScore = prepare('select "countScore"(:projectId, :kind, :hourMs, :bin, :matched)')
const logCall = prepare(
  `select "logCall"(:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :bucket,
     :costMicros, :isReplay, :transferId)`,
)

/** The facts hold the project's bucket until the transaction ends: claims of a project queue there. */
function gateStatements(
  on: StatementSender,
): Pick<
  Tx,
  'findAdmissionFacts' | 'touchKey' | 'upsertBucket' | 'logCall' | 'sweepCalls' | 'countScore'
> {
  return {
    findAdmissionFacts: (of) => selectAdmissionFacts.first(on, of),
    touchKey: async (key) => touchKey.send(on, key),
    upsertBucket: async (bucket) => upsertBucket.send(on, bucket),
    logCall: async (row) =>
      logCall.send(on, { ...row, bucket: latencyBucketOf(row.latencyMs) + 1 }),
    sweepCalls: (old) => sweepCalls(on, old),
    countScore: async ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      const of = { projectId, kind, hourMs: hourStartMs(atMs), bin: scoreBinOf(value) }
      countScore.send(on, { ...of, matched })
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
    deleteOwned: async (owner: AttemptOwner) => (await deleteOwnedAttempt.run(on, owner)) === 1,
    delete: async (key) => (await deleteAttempt.run(on, key)) === 1,
    findOverdue: (before) => selectOverdueAttempts.all(on, before),
    deleteExpired: (old) => deleteExpiredAttempts.run(on, old),
  }
}

type PostgresLedgerAmount = { readonly ledger: string; readonly amountMicros: bigint }

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
}
const insertTransfer = prepare<{ readonly transferId: number }>(
  `insert into "ledgerTransfers" (chain, seq, kind, "fromLedger", "toLedger", "amountMicros", "atMs",
     "projectId", "requestId", "windowStartMs", "rowHash")
   values (:chain, :seq, :kind, :fromLedger, :toLedger, :amountMicros, :atMs, :projectId, :requestId,
     :windowStartMs, :rowHash) returning "transferId"`,
)

function balanceUpdate(what: string, condition: string) {
  return prepare(`update ledgers set ${what} where ledger = :ledger and ${condition}`)
}

function ledgerStatements(on: StatementSender): Tx['ledger'] {
  const change = (name: keyof typeof balanceUpdates) => async (amount: PostgresLedgerAmount) =>
    (await balanceUpdates[name].run(on, amount)) === 1
  return {
    findHead: (ledger) => selectHead.first(on, { ledger }),
    setHead: async (row) => setHead.send(on, row),
    reserve: change('reserve'),
    unreserve: change('unreserve'),
    debit: change('debit'),
    credit: change('credit'),
    append: async (row) => {
      const made = await insertTransfer.first(on, row)
      if (!made) throw new Error('the ledger returned no id')
      return made.transferId
    },
  }
}
