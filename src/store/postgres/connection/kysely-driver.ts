import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from '../../database.ts'
import type { Database, Schema } from '../../schema.ts'
import type { ConnectionPool, PostgresQuery, PostgresSession } from './pool.ts'
import { type PostgresTransaction, type TransactionOptions, transact } from './transaction.ts'

/** Migrations run under a lock that their transaction holds, see `migrate.ts`. */
class NoLockAdapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return noop()
  }

  override releaseMigrationLock(): Promise<void> {
    return noop()
  }
}

/** Builds queries and cannot run them. */
export const queryBuilder: Database = createDatabase(new DummyDriver())

/** Returns an interface for queries within one open transaction. */
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

/** Returns an interface for queries on a pool. Each runs in its own transaction or in kysely's. */
export function databaseOnPool(pool: ConnectionPool): Database {
  const transactions = new WeakMap<DatabaseConnection, ManualTransaction>()
  const takeTransaction = (connection: DatabaseConnection): ManualTransaction => {
    const transaction = transactions.get(connection)
    if (!transaction) throw new Error('the connection has no open transaction')
    transactions.delete(connection)
    return transaction
  }
  return createDatabase({
    ...noopDriver,
    acquireConnection: async () => {
      const connection = connectionOf((query) => {
        const transaction = transactions.get(connection)
        return transaction
          ? transaction.run(query)
          : transact(pool, writeOptions, ({ run }) => run(query))
      })
      return connection
    },
    releaseConnection: noop,
    beginTransaction: async (connection, settings) => {
      transactions.set(connection, await beginManualTransaction(pool, settings))
    },
    commitTransaction: async (connection) => takeTransaction(connection).end('commit'),
    rollbackTransaction: async (connection) => takeTransaction(connection).end('rollback'),
  })
}

const writeOptions: TransactionOptions = { access: 'write' }

/** A transaction that its user ends explicitly. */
type ManualTransaction = {
  readonly run: PostgresSession['run']
  readonly end: (outcome: 'commit' | 'rollback') => Promise<void>
}

/** Begins a transaction. A snapshot reads everything and therefore has no statement timeout. */
async function beginManualTransaction(
  pool: ConnectionPool,
  settings: TransactionSettings,
): Promise<ManualTransaction> {
  const ready = Promise.withResolvers<PostgresSession['run']>()
  const ending = Promise.withResolvers<'commit' | 'rollback'>()
  const isSnapshot = settings.accessMode === 'read only'
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
    end: (outcome) => {
      ending.resolve(outcome)
      return ended.catch((error: unknown) => {
        if (error !== rollbackSignal) throw error
      })
    },
  }
}

const rollbackSignal = new Error('the transaction was rolled back')

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
      const isWrite = ['INSERT', 'UPDATE', 'DELETE'].includes(command)
      return {
        rows: rows as Row[],
        ...(isWrite && { numAffectedRows: BigInt(count) }),
      }
    },
    streamQuery: () => {
      throw new Error('streaming is not supported; read the rows page by page')
    },
  }
}

function noop(): Promise<void> {
  return Promise.resolve()
}

function rejectNested(): Promise<void> {
  return Promise.reject(new Error('nested transactions are not supported'))
}

const noopDriver = { init: noop, destroy: noop }

type PostgresParameters = Readonly<Record<string, unknown>>

/** A statement with `:named` parameters, prepared once on each connection. */
export type PostgresStatement<Row> = ReturnType<typeof prepare<Row>>

export type QueryRunner = Pick<PostgresSession, 'run'>

/** Prepares a statement. The caller declares the type of the rows, next to the SQL that defines it. */
export function prepare<Row>(sql: string) {
  const names: string[] = []
  const text = sql.replaceAll(/(?<!:):([a-z]\w*)/giu, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const query = (parameters: PostgresParameters): PostgresQuery => ({
    text,
    name: statementName(text),
    values: names.map((name) => parameters[name]),
  })
  const all = async (on: QueryRunner, parameters: PostgresParameters) =>
    (await on.run(query(parameters))).rows as readonly Row[]
  return {
    all,
    first: async (on: QueryRunner, parameters: PostgresParameters) =>
      (await all(on, parameters))[0],
    /** @returns the number of changed rows. */
    run: async (on: QueryRunner, parameters: PostgresParameters) =>
      (await on.run(query(parameters))).count,
    /** Sends the statement without waiting for its result, see `PostgresTransaction`. */
    send: (on: Pick<PostgresTransaction, 'send'>, parameters: PostgresParameters) =>
      on.send(query(parameters)),
  }
}

/** The maximum number of prepared texts. Kysely repeats a few dozen texts. */
const statementNamesMax = 500
const statementNames = new Map<string, string>()

/** Returns a name for a text; undefined if there are too many: the text is then not prepared. */
export function statementName(text: string): string | undefined {
  const existing = statementNames.get(text)
  if (existing !== undefined || statementNames.size >= statementNamesMax) return existing
  const name = `facegate_${statementNames.size + 1}`
  statementNames.set(text, name)
  return name
}
