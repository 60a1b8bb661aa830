import { type QueryRunner, databaseOnPool } from '../postgres/connection/kysely-driver.ts'
import { migrate } from '../postgres/migrate-schema.ts'
import { createLogPartitions } from '../postgres/log-partitions.ts'
import { openPool } from '../postgres/connection/pool.ts'
import { transact, type TransactionOptions } from '../postgres/connection/transaction.ts'
import {
  parseServerAddress,
  checkConnection,
  throwExplained,
} from '../postgres/connection/server-address.ts'
import { requireUsableServer } from './fill-target.ts'

/** The PostgreSQL database that a migration fills. */
export type MigrationTarget = Awaited<ReturnType<typeof openMigrationTarget>>

type Job<T> = (on: QueryRunner) => Promise<T>

/** Statements write and read many rows, so they have no timeout. */
const poolOptions = { connectionsMax: 2, statementTimeoutMs: 0 }

const readOptions: TransactionOptions = { access: 'read' }
const writeOptions: TransactionOptions = { access: 'write' }

/**
 * Opens the target of a migration. The caller runs its functions in the scope of all accounts.
 *
 * @throws Error with a one-sentence explanation, as all of its functions do; it never contains the
 *   password.
 */
export async function openMigrationTarget(url: string) {
  const address = parseServerAddress(url)
  const explain = throwExplained(address)
  await checkConnection(url).catch(explain)
  await using opened = new AsyncDisposableStack()
  const pool = opened.adopt(openPool(url, poolOptions), (each) => each.close())
  const target = {
    /** Server and database, without the password. */
    label: address.label,
    /** Typed queries for the audit. */
    db: databaseOnPool(pool),
    /** Reads one snapshot of what is committed. */
    read: <T>(job: Job<T>) => transact(pool, readOptions, job).catch(explain),
    write: <T>(job: Job<T>) => transact(pool, writeOptions, job).catch(explain),
    /** Migrates the database to the current schema. */
    migrate: () => migrate(pool, undefined).catch(explain),
    /** Creates the partition of the request log for the month of a time. */
    createLogPartition: (atMs: number) => createLogPartitions(pool, atMs, 0).catch(explain),
    [Symbol.asyncDispose]: () => pool.close(),
  }
  await target.read(requireUsableServer)
  opened.move()
  return target
}
