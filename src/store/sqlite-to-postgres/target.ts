import type { Database } from '../database.ts'
import { databaseOnPool } from '../postgres/connection/kysely.ts'
import { migrate } from '../postgres/migrate.ts'
import { createLogPartitions } from '../postgres/log-partitions.ts'
import { openPool } from '../postgres/connection/pool.ts'
import type { QueryRunner } from '../postgres/connection/statement.ts'
import { transact, type TransactionOptions } from '../postgres/connection/transaction.ts'
import { parseServerAddress, checkConnection, explainError } from './server-address.ts'
import { requireUsableServer } from './fill-target.ts'

/** A database of PostgreSQL that is filled, or is full. */
export type MigrationTarget = AsyncDisposable & {
  /** Where it is, without the password. */
  readonly label: string
  /** Typed queries, for whoever verifies it. */
  readonly db: Database
  /** Asks what is committed, all of it as at one moment. */
  readonly read: <T>(job: (on: QueryRunner) => Promise<T>) => Promise<T>
  readonly write: <T>(job: (on: QueryRunner) => Promise<T>) => Promise<T>
  /** Brings it to the current schema. */
  readonly migrate: () => Promise<void>
  /** Makes the month of the request log that a time lies in. */
  readonly createLogPartition: (atMs: number) => Promise<void>
}

/** Rows are written in bulk and read in full: a statement may take its time. */
const poolOptions = { connectionsMax: 2, statementTimeoutMs: 0 }

const reading: TransactionOptions = { access: 'read' }
const writing: TransactionOptions = { access: 'write' }

/**
 * Opens a database that may be one to move into.
 *
 * @throws Error in one sentence that says what is wrong, as all of its functions do; the password is
 *   in none.
 */
export async function openMigrationTarget(url: string): Promise<MigrationTarget> {
  const address = parseServerAddress(url)
  const tell = (error: unknown): never => {
    const reason = explainError(error, address)
    throw reason === undefined ? error : new Error(reason, { cause: error })
  }
  await checkConnection(url).catch(tell)
  const pool = openPool(url, poolOptions)
  const target: MigrationTarget = {
    label: address.label,
    db: databaseOnPool(pool),
    read: (job) => transact(pool, reading, job).catch(tell),
    write: (job) => transact(pool, writing, job).catch(tell),
    migrate: () => migrate(pool, undefined).catch(tell),
    createLogPartition: (atMs) => createLogPartitions(pool, atMs, 0).catch(tell),
    [Symbol.asyncDispose]: () => pool.close(),
  }
  try {
    await target.read(requireUsableServer)
    return target
  } catch (error) {
    await pool.close()
    throw error
  }
}
