import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Database } from '../../database.ts'
import type { Schema } from '../../schema.ts'
import type { ConnectionPool, PostgresSession } from './pool.ts'
import { statementName, type QueryRunner } from './statement.ts'
import { transact, type TransactionOptions } from './transaction.ts'

/** Who migrates holds a lock of the transaction; see `migrate.ts`. */
class NoLockAdapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return noop()
  }

  override releaseMigrationLock(): Promise<void> {
    return noop()
  }
}

/** Builds queries; it runs none. */
export const queryBuilder: Database = createDatabase(new DummyDriver())

/** Queries that all run on one connection, within the transaction that is open there. */
export function databaseOnTransaction(on: QueryRunner): Database {
  const connection = connectionOf(on.run)
  return createDatabase({
    ...noopDriver,
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: noop,
    beginTransaction: rejectNested,
    commitTransaction: rejectNested,
    rollbackTransaction: rejectNested,
  })
}

/** Queries on connections of a pool, each a transaction of its own where kysely begins none. */
export function databaseOnPool(pool: ConnectionPool): Database {
  const open = new WeakMap<DatabaseConnection, OpenedTransaction>()
  const openedOf = (connection: DatabaseConnection): OpenedTransaction => {
    const opened = open.get(connection)
    if (!opened) throw new Error('there is no transaction')
    return opened
  }
  return createDatabase({
    ...noopDriver,
    acquireConnection: async () => {
      const connection = connectionOf((query) => {
        const opened = open.get(connection)
        return opened ? opened.run(query) : transact(pool, writeOptions, ({ run }) => run(query))
      })
      return connection
    },
    releaseConnection: noop,
    beginTransaction: async (connection, settings) => {
      open.set(connection, await beginOpenedTransaction(pool, settings))
    },
    commitTransaction: async (connection) => {
      const opened = openedOf(connection)
      open.delete(connection)
      await opened.end('commit')
    },
    rollbackTransaction: async (connection) => {
      const opened = openedOf(connection)
      open.delete(connection)
      await opened.end('rollback')
    },
  })
}

const writeOptions: TransactionOptions = { access: 'write' }

/** A transaction that is ended from outside. */
type OpenedTransaction = {
  readonly run: PostgresSession['run']
  readonly end: (how: 'commit' | 'rollback') => Promise<void>
}

/** What asks for one state of everything looks at all of it, and may take its time. */
async function beginOpenedTransaction(
  pool: ConnectionPool,
  settings: TransactionSettings,
): Promise<OpenedTransaction> {
  const ready = Promise.withResolvers<PostgresSession['run']>()
  const ending = Promise.withResolvers<'commit' | 'rollback'>()
  const isSnapshot = settings.isolationLevel === 'repeatable read'
  const options: TransactionOptions = isSnapshot
    ? { access: 'read', statementTimeoutMs: 0 }
    : writeOptions
  const ended = transact(pool, { ...options, retryOn: 'never' }, async ({ run }) => {
    ready.resolve(run)
    if ((await ending.promise) === 'rollback') throw rollbackSignal
  })
  ended.catch(ready.reject)
  return {
    run: await ready.promise,
    end: (how) => {
      ending.resolve(how)
      return ended.catch((error: unknown) => {
        if (error !== rollbackSignal) throw error
      })
    },
  }
}

const rollbackSignal = new Error('the transaction was taken back')

function createDatabase(driver: Driver): Database {
  const dialect: Dialect = {
    createAdapter: () => new NoLockAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return new Kysely<Schema>({ dialect })
}

function connectionOf(run: PostgresSession['run']): DatabaseConnection {
  return {
    executeQuery: async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
      const { rows, count, command } = await run({
        text: sql,
        name: statementName(sql),
        values: parameters,
      })
      const isChange = ['INSERT', 'UPDATE', 'DELETE'].includes(command)
      return {
        rows: rows as Row[],
        ...(isChange && { numAffectedRows: BigInt(count) }),
      }
    },
    streamQuery: () => {
      throw new Error('rows are asked for a page at a time')
    },
  }
}

function noop(): Promise<void> {
  return Promise.resolve()
}

function rejectNested(): Promise<void> {
  return Promise.reject(new Error('a transaction is open already'))
}

const noopDriver = { init: noop, destroy: noop }
