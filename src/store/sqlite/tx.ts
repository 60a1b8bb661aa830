import type { DatabaseSync } from 'node:sqlite'
import { createCallStatements } from '../gate/call-statements.ts'
import type { StatementParameters, StatementRunner } from '../gate/statements.ts'
import { Kysely, type ReadTx, type Tx } from '../database.ts'
import type { Schema } from '../schema.ts'
import { type PendingCounts, registerSumLatencies } from './hourly-counts.ts'
import { createProjectStates } from './calls/project-states.ts'
import { createSettleBatch } from './calls/call-batch.ts'
import { createStatementCache, prepare, prepareOnce, sqliteDialect } from './connection.ts'

/**
 * Prepares the statements of jobs on the writer's connection.
 *
 * @param pending collects calls for the hourly counts, which are updated before the commit.
 */
export function sqliteTx(connection: DatabaseSync, pending: PendingCounts): Tx {
  const beginEffect = prepare(connection, 'SAVEPOINT effect')
  const releaseEffect = prepare(connection, 'RELEASE effect')
  return {
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
    ...createCallStatements(statementRunner(connection, pending.add)),
    settleCall: settleStatement(connection, pending.add),
  }
}

/** Returns the settlement of one call, by the functions that settle a batch. */
function settleStatement(
  connection: DatabaseSync,
  countCall: PendingCounts['add'],
): Tx['settleCall'] {
  const states = createProjectStates(connection)
  const settle = createSettleBatch(connection, { states, countCall })
  return async (settlement) => {
    try {
      const isSettled = settle(settlement)
      states.flush()
      return isSettled
    } finally {
      states.reset()
    }
  }
}

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

function statementRunner(
  connection: DatabaseSync,
  countCall: StatementRunner['countCall'],
): StatementRunner {
  const statement = prepareOnce(connection)
  return {
    all: async <Row>(sql: string, parameters: StatementParameters) =>
      statement(sql).all(parameters) as Row[],
    run: async (sql, parameters) => statement(sql).run(parameters),
    send: (sql, parameters) => void statement(sql).run(parameters),
    countCall,
  }
}
