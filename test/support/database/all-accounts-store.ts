import type {
  CompiledQuery,
  ControlledTransaction,
  DatabaseConnection,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely'
import { requireAccountScope, runAsAllAccounts } from '../../../src/lib/account-context.ts'
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Store,
} from '../../../src/store/database.ts'
import type { Database, Schema } from '../../../src/store/schema.ts'

/**
 * Returns a view of a store for the queries of tests: transactions without an account scope run for
 * all accounts. The service under test keeps the store itself, where a missing scope still fails.
 */
export function allAccountsStore(store: Store): Store {
  if (!store.isShared) return store
  return {
    ...store,
    admitCall: (input) => inScope(() => store.admitCall(input)),
    settleCall: (input) => inScope(() => store.settleCall(input)),
    db: allAccountsDatabase(store.db),
    read: (job) => inScope(() => store.read(job)),
    write: (job) => inScope(() => store.write(job)),
    runExclusive: (job) => inScope(() => store.runExclusive(job)),
  }
}

/** Runs work in the current account scope or, if there is none, for all accounts. */
function inScope<T>(work: () => T): T {
  try {
    requireAccountScope()
  } catch {
    return runAsAllAccounts(work)
  }
  return work()
}

function allAccountsDatabase(db: Database): Database {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => allAccountsDriver(db),
      createIntrospector: (inner) => new PostgresIntrospector(inner),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

/** Runs each query and each transaction through the given database, for all accounts. */
function allAccountsDriver(db: Database): Driver {
  const transactions = new WeakMap<DatabaseConnection, ControlledTransaction<Schema>>()
  const transactionOf = (connection: DatabaseConnection): ControlledTransaction<Schema> => {
    const transaction = transactions.get(connection)
    if (!transaction) throw new Error('the connection has no open transaction')
    return transaction
  }
  return {
    init: noop,
    destroy: noop,
    releaseConnection: noop,
    acquireConnection: async () => {
      const connection: DatabaseConnection = {
        executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
          inScope(() =>
            (transactions.get(connection) ?? db).executeQuery(query as CompiledQuery<Row>),
          ),
        streamQuery: () => {
          throw new Error('streaming is not supported')
        },
      }
      return connection
    },
    beginTransaction: async (connection, { isolationLevel }: TransactionSettings) => {
      const plain = db.startTransaction()
      const builder = isolationLevel ? plain.setIsolationLevel(isolationLevel) : plain
      transactions.set(connection, await inScope(() => builder.execute()))
    },
    commitTransaction: (connection) => transactionOf(connection).commit().execute(),
    rollbackTransaction: (connection) => transactionOf(connection).rollback().execute(),
  }
}

function noop(): Promise<void> {
  return Promise.resolve()
}
