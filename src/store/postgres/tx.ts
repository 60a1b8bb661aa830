import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import {
  createCallStatements,
  type StatementParameters,
  type StatementRunner,
} from '../gate/call-statements.ts'
import { scoreBinOf, hourStartMs } from '../gate/hourly-counts.ts'
import type { ReadTx, Tx } from '../tx.ts'
import type { RunBatched } from './connection/batcher.ts'
import { queryBuilder } from './connection/kysely-driver.ts'
import { settleInOneStatement } from './single-statement.ts'
import {
  prepare,
  statementName,
  type PostgresStatement,
  type QueryRunner,
} from './connection/statement.ts'
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
    ...createCallStatements(statementRunner(savepoints.runner)),
    ...logStatements(savepoints.runner),
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

/** Logs calls by database functions, which also update the hourly counts. */
function logStatements(on: StatementSender): Pick<Tx, 'logCall' | 'countScore'> {
  return {
    logCall: async ({ detail = null, ...row }) => {
      logCall.send(on, { ...row, bucket: latencyBucketOf(row.latencyMs) + 1 })
      if (detail !== null) setCallDetail.send(on, { detail, atMs: row.atMs })
    },
    countScore: async ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      const [hourMs, bin] = [hourStartMs(atMs), scoreBinOf(value)]
      countScore.send(on, { projectId, kind, hourMs, bin, matched })
    },
  }
}

/** Returns the runner of portable statements. Each text is translated at its first use. */
function statementRunner(on: StatementSender): StatementRunner {
  return {
    all: <Row>(sql: string, parameters: StatementParameters) =>
      prepareOnce(sql).all(on, parameters) as Promise<readonly Row[]>,
    run: (sql, parameters) => prepareOnce(sql).run(on, parameters),
    send: (sql, parameters) => prepareOnce(sql).send(on, parameters),
    hasAllBuckets: true,
  }
}

const statements = new Map<string, PostgresStatement<unknown>>()

function prepareOnce(sql: string): PostgresStatement<unknown> {
  const existing = statements.get(sql)
  if (existing) return existing
  const prepared = prepare(sql)
  statements.set(sql, prepared)
  return prepared
}
