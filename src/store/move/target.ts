import type { Database } from '../database.ts'
import { databaseOf } from '../postgres/kysely.ts'
import { migrate } from '../postgres/migrate.ts'
import { makeMonths } from '../postgres/months.ts'
import { openPool } from '../postgres/pool.ts'
import type { Runner } from '../postgres/statement.ts'
import { transact, type TransactionOptions } from '../postgres/transaction.ts'
import { addressOf, knock, reasonOf } from './address.ts'
import { requireUsable } from './fill.ts'

/** A database of PostgreSQL that is filled, or is full. */
export type Target = AsyncDisposable & {
  /** Where it is, without the password. */
  readonly says: string
  /** Typed queries, for whoever verifies it. */
  readonly db: Database
  /** Asks what is committed, all of it as at one moment. */
  readonly read: <T>(job: (on: Runner) => Promise<T>) => Promise<T>
  readonly write: <T>(job: (on: Runner) => Promise<T>) => Promise<T>
  /** Brings it to the current schema. */
  readonly migrate: () => Promise<void>
  /** Makes the month of the request log that a time lies in. */
  readonly makeMonth: (atMs: number) => Promise<void>
}

/** Rows are written in bulk and read in full: a statement may take its time. */
const poolOptions = { connectionsMax: 2, statementMsMax: 0 }

const reading: TransactionOptions = { begin: 'read' }
const writing: TransactionOptions = { begin: 'write' }

/**
 * Opens a database that may be one to move into.
 *
 * @throws Error in one sentence that says what is wrong, as all of its functions do; the password is
 *   in none.
 */
export async function openTarget(url: string): Promise<Target> {
  const address = addressOf(url)
  const tell = (error: unknown): never => {
    const reason = reasonOf(error, address)
    throw reason === undefined ? error : new Error(reason, { cause: error })
  }
  await knock(url).catch(tell)
  const pool = openPool(url, poolOptions)
  const target: Target = {
    says: address.says,
    db: databaseOf(pool),
    read: (job) => transact(pool, reading, job).catch(tell),
    write: (job) => transact(pool, writing, job).catch(tell),
    migrate: () => migrate(pool, undefined).catch(tell),
    makeMonth: (atMs) => makeMonths(pool, atMs, 0).catch(tell),
    [Symbol.asyncDispose]: () => pool.close(),
  }
  try {
    await target.read(requireUsable)
    return target
  } catch (error) {
    await pool.close()
    throw error
  }
}
