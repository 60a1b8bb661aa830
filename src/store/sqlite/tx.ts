import type { DatabaseSync } from 'node:sqlite'
import { microsMax } from '../../lib/money.ts'
import type { CountedCall, Score } from '../gate/hourly-counts.ts'
import { Kysely } from '../load-kysely.ts'
import type { AttemptRow, CallRow, Schema } from '../schema.ts'
import type { PendingCounts } from './calls/pending-counts.ts'
import { createHourlyCountStatements, registerSumLatencies } from './hourly-counts.ts'
import { prepare, createStatementCache, sqliteDialect } from './connection.ts'
import type { PreparedStatement } from './connection.ts'
import {
  attemptCompleteSql,
  attemptInsertSql,
  insertCallSql,
  insertTransferSql,
  isOwnerSql,
  touchKeySql,
  upsertBucketSql,
} from './calls/call-sql.ts'
import { createSettleCall } from './calls/settle-call.ts'
import type { AdmissionFacts, LedgerAmount, LedgerHead } from '../gate/statements.ts'
import type { ReadTx, Tx } from '../tx.ts'

/**
 * Prepares the statements of jobs on the writer's connection.
 *
 * @param pending collects calls for the hourly counts; without it, each call is counted immediately.
 */
export function sqliteTx(
  connection: DatabaseSync,
  hourlyCounts = createHourlyCountStatements(connection),
  pending?: PendingCounts,
): Tx {
  const countCall = pending?.add ?? hourlyCounts.countCall
  const beginEffect = prepare(connection, 'SAVEPOINT effect')
  const releaseEffect = prepare(connection, 'RELEASE effect')
  const insertTransfer = prepare<never>(connection, insertTransferSql)
  const statements = {
    ...gateStatements(connection, countCall),
    countScore: async (score: Score, call: ScoredCall) => hourlyCounts.countScore(score, call),
    attempts: attemptStatements(connection),
  }
  const settleCall = createSettleCall(connection, { ...statements, insertTransfer })
  const tx: Tx = {
    savepoint: async (work) => {
      beginEffect.run({})
      try {
        const value = await work()
        releaseEffect.run({})
        return value
      } catch (error) {
        if (connection.isTransaction) connection.exec('ROLLBACK TO effect; RELEASE effect')
        throw error
      }
    },
    lock: async () => {},
    ...sqliteReadTx(connection),
    ...statements,
    ledger: ledgerStatements(connection, insertTransfer),
    settleInOneStatement: (settlement) => settleCall(tx, settlement),
  }
  return tx
}

type ScoredCall = Pick<CallRow, 'atMs' | 'projectId'>

/** Builds and runs queries. SQLite runs them synchronously, so the promises are already settled. */
export function sqliteReadTx(connection: DatabaseSync): ReadTx {
  registerSumLatencies(connection)
  const prepareCached = createStatementCache(connection)
  return {
    build: new Kysely<Schema>({ dialect: sqliteDialect(connection) }),
    run: async (query) => {
      const { sql, parameters } = query.compile()
      const statement = prepareCached(sql)
      if (statement.reader) return statement.all(parameters) as never
      statement.run(parameters)
      return []
    },
  }
}

function gateStatements(
  connection: DatabaseSync,
  countCall: (row: CountedCall) => void,
): Pick<Tx, 'findAdmissionFacts' | 'touchKey' | 'upsertBucket' | 'logCall' | 'sweepCalls'> {
  const selectAdmissionFacts = prepare<AdmissionFacts>(
    connection,
    `select permissions, expiresAtUtc, revokedAtUtc, lastUsedAtUtc, sustainedPerS, burst, billing,
       fullAtUs, unitMicros, balanceMicros, exhaustedAtMicros
     from keys join projects using (projectId) left join buckets using (projectId)
     join ledgers on ledger = 'budget:' || projectId
     left join prices on prices.accountId = projects.accountId and prices.action = :action
     where keyId = :keyId`,
  )
  const touchKey = prepare(connection, touchKeySql)
  const upsertBucket = prepare(connection, upsertBucketSql)
  const deleteOldCalls = prepare(
    connection,
    `delete from calls where callId in
       (select callId from calls where atMs < :beforeMs order by atMs limit :limit)`,
  )
  const markSwept = prepare(
    connection,
    `insert into marks (name, valueMs) values ('callsSweptBefore', :beforeMs)
     on conflict (name) do update set valueMs = max(valueMs, excluded.valueMs)`,
  )
  const insertCall = prepare(connection, insertCallSql)
  return {
    findAdmissionFacts: async (call) => selectAdmissionFacts.first(call),
    touchKey: async (key) => void touchKey.run(key),
    upsertBucket: async (bucket) => void upsertBucket.run(bucket),
    logCall: async (row) => {
      insertCall.run({ detail: null, ...row })
      countCall(row)
    },
    sweepCalls: async (range) => {
      const sweptRows = deleteOldCalls.run(range)
      if (sweptRows > 0) markSwept.run(range)
      return sweptRows
    },
  }
}

function attemptStatements(connection: DatabaseSync): Tx['attempts'] {
  const find = prepare<AttemptRow>(
    connection,
    'select * from attempts where projectId = :projectId and requestId = :requestId',
  )
  const insert = prepare(connection, attemptInsertSql)
  const complete = prepare(connection, attemptCompleteSql)
  const deleteOwned = prepare(connection, `delete from attempts where ${isOwnerSql}`)
  const deleteAttempt = prepare(
    connection,
    'delete from attempts where projectId = :projectId and requestId = :requestId',
  )
  const findOverdue = prepare<AttemptRow>(
    connection,
    `select * from attempts where state = 'running' and deadlineMs < :deadlineMs
     order by deadlineMs limit :limit`,
  )
  const deleteExpired = prepare(
    connection,
    `delete from attempts where rowid in (select rowid from attempts
       where state = 'done' and windowStartMs <= :windowStartMs order by windowStartMs limit :limit)`,
  )
  return {
    find: async (key) => find.first(key),
    insert: async (row) => void insert.run(row),
    complete: async (owner) => complete.run(owner) === 1,
    deleteOwned: async (owner) => deleteOwned.run(owner) === 1,
    delete: async (key) => deleteAttempt.run(key) === 1,
    findOverdue: async (filter) => findOverdue.all(filter),
    deleteExpired: async (filter) => deleteExpired.run(filter),
  }
}

function ledgerStatements(
  connection: DatabaseSync,
  insertTransfer: PreparedStatement<never>,
): Tx['ledger'] {
  const selectHead = prepare<LedgerHead>(
    connection,
    'select headSeq, headHash from ledgers where ledger = :ledger',
  )
  const setHead = prepare(
    connection,
    'update ledgers set headSeq = :headSeq, headHash = :headHash where ledger = :ledger',
  )
  const balanceUpdate = (assignment: string, condition: string) => {
    const statement = prepare(
      connection,
      `update ledgers set ${assignment} where ledger = :ledger and ${condition}`,
    )
    return async (amount: LedgerAmount) => statement.run(amount) === 1
  }
  const hasRoomSql = `balanceMicros <= ${microsMax} - :amountMicros`
  const hasFreeBalanceSql = 'balanceMicros - reservedMicros >= :amountMicros'
  const reportShortage = balanceUpdate(
    'exhaustedAtMicros = :amountMicros - 1',
    'exhaustedAtMicros < :amountMicros and balanceMicros < :amountMicros',
  )
  return {
    findHead: async (ledger) => selectHead.first({ ledger }),
    setHead: async (row) => void setHead.run(row),
    reserve: balanceUpdate('reservedMicros = reservedMicros + :amountMicros', hasFreeBalanceSql),
    unreserve: balanceUpdate('reservedMicros = reservedMicros - :amountMicros', 'true'),
    debit: balanceUpdate('balanceMicros = balanceMicros - :amountMicros', hasFreeBalanceSql),
    credit: balanceUpdate('balanceMicros = balanceMicros + :amountMicros', hasRoomSql),
    reportShortage: async (price) => void (await reportShortage(price)),
    append: async (row) => insertTransfer.insert(row),
  }
}
