import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import {
  createCallStatements,
  type StatementParameters,
  type StatementRunner,
} from '../gate/call-statements.ts'
import { hourStartMs } from '../gate/hourly-counts.ts'
import type { ReadTx, Tx } from '../database.ts'
import { settleInTransaction } from './call-functions.ts'
import { queryBuilder } from './connection/kysely-driver.ts'
import {
  prepare,
  statementName,
  type PostgresStatement,
  type QueryRunner,
} from './connection/statement.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

type StatementSender = Pick<PostgresTransaction, 'run' | 'send'>

/** Returns the statements of a job in its transaction. */
export function postgresTx(transaction: PostgresTransaction): Tx {
  const savepoints = lazySavepoints(transaction)
  return {
    ...postgresReadTx(savepoints.runner),
    savepoint: savepoints.within,
    lock: async (name, mode) => {
      await locks[mode].run({ run: transaction.runWaiting }, { name })
    },
    ...createCallStatements(statementRunner(savepoints.runner)),
    settleCall: (settlement) => settleInTransaction(transaction, settlement),
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

/** Adds a call to the counts of its hour. `bucket`: the latency's in the histogram, counted from 1. */
const countCall = prepare(
  `insert into "callHours" as h ("hourMs", "projectId", "keyId", action, code, outcome, calls,
     billed, "costMicros", "meteredMicros", latencies)
   values (:hourMs, :projectId, :keyId, :action, :code, :outcome, 1, :billed, :costMicros,
     :meteredMicros,
     array_fill(0, array[:bucket::integer - 1]) || 1 || array_fill(0, array[80 - :bucket::integer]))
   on conflict ("hourMs", "projectId", "keyId", action, code, outcome) do update set
     calls = h.calls + 1, billed = h.billed + excluded.billed,
     "costMicros" = h."costMicros" + excluded."costMicros",
     "meteredMicros" = h."meteredMicros" + excluded."meteredMicros",
     latencies[:bucket] = h.latencies[:bucket] + 1`,
)

/** Returns the runner of portable statements. Each text is translated at its first use. */
function statementRunner(on: StatementSender): StatementRunner {
  return {
    all: <Row>(sql: string, parameters: StatementParameters) =>
      prepareOnce(sql).all(on, parameters) as Promise<readonly Row[]>,
    run: (sql, parameters) => prepareOnce(sql).run(on, parameters),
    send: (sql, parameters) => prepareOnce(sql).send(on, parameters),
    countCall: (row) =>
      countCall.send(on, {
        ...row,
        outcome: row.outcome ?? '',
        hourMs: hourStartMs(row.atMs),
        billed: row.transferId === null ? 0 : 1,
        bucket: latencyBucketOf(row.latencyMs) + 1,
      }),
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
