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
import type { Database } from '../database.ts'
import type { Schema } from '../schema.ts'
import type { Pool, Session } from './pool.ts'
import { nameOf, type Runner } from './statement.ts'
import { transact, type TransactionOptions } from './transaction.ts'

/** Who migrates holds a lock of the transaction; see `migrate.ts`. */
class Adapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return nothing()
  }

  override releaseMigrationLock(): Promise<void> {
    return nothing()
  }
}

/** Builds queries; it runs none. */
export const build: Database = databaseOver(new DummyDriver())

/** Queries that all run on one connection, within the transaction that is open there. */
export function databaseOn(on: Runner): Database {
  const connection = connectionOf(on.run)
  return databaseOver({
    ...inert,
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: nothing,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  })
}

/** Queries on connections of a pool, each a transaction of its own where kysely begins none. */
export function databaseOf(pool: Pool): Database {
  const open = new WeakMap<DatabaseConnection, Opened>()
  const openedOf = (connection: DatabaseConnection): Opened => {
    const opened = open.get(connection)
    if (!opened) throw new Error('there is no transaction')
    return opened
  }
  return databaseOver({
    ...inert,
    acquireConnection: async () => {
      const connection = connectionOf((query) => {
        const opened = open.get(connection)
        return opened ? opened.run(query) : transact(pool, writing, ({ run }) => run(query))
      })
      return connection
    },
    releaseConnection: nothing,
    beginTransaction: async (connection, settings) => {
      open.set(connection, await beginOpen(pool, settings))
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

const writing: TransactionOptions = { begin: 'write' }

/** A transaction that is ended from outside. */
type Opened = {
  readonly run: Session['run']
  readonly end: (how: 'commit' | 'rollback') => Promise<void>
}

/** What asks for one state of everything looks at all of it, and may take its time. */
async function beginOpen(pool: Pool, settings: TransactionSettings): Promise<Opened> {
  const ready = Promise.withResolvers<Session['run']>()
  const ending = Promise.withResolvers<'commit' | 'rollback'>()
  const isSnapshot = settings.isolationLevel === 'repeatable read'
  const options: TransactionOptions = isSnapshot ? { begin: 'read', statementMsMax: 0 } : writing
  const ended = transact(pool, { ...options, redo: 'never' }, async ({ run }) => {
    ready.resolve(run)
    if ((await ending.promise) === 'rollback') throw takenBack
  })
  ended.catch(ready.reject)
  return {
    run: await ready.promise,
    end: (how) => {
      ending.resolve(how)
      return ended.catch((error: unknown) => {
        if (error !== takenBack) throw error
      })
    },
  }
}

const takenBack = new Error('the transaction was taken back')

function databaseOver(driver: Driver): Database {
  const dialect: Dialect = {
    createAdapter: () => new Adapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return new Kysely<Schema>({ dialect })
}

function connectionOf(run: Session['run']): DatabaseConnection {
  return {
    executeQuery: async <Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> => {
      const { rows, count, command } = await run({
        text: sql,
        name: nameOf(sql),
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

function nothing(): Promise<void> {
  return Promise.resolve()
}

function refuse(): Promise<void> {
  return Promise.reject(new Error('a transaction is open already'))
}

const inert = { init: nothing, destroy: nothing }
