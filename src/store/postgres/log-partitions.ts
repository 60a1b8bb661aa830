import { markSweptSql } from '../gate/call-statements.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare, type QueryRunner } from './connection/statement.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'

/** The number of future months with partitions. */
const monthsAhead = 2

/**
 * Creates the partitions of the request log for the current and the next months. Rows that were
 * logged before their partition existed are moved into it. Only one process does it at a time.
 */
export async function createLogPartitions(
  pool: ConnectionPool,
  nowMs: number,
  monthsAheadMax: number = monthsAhead,
): Promise<void> {
  for (let ahead = 0; ahead <= monthsAheadMax; ahead++) {
    const partition = partitionOfMonth(nowMs, ahead)
    await transact(pool, housekeepingOptions, (transaction) =>
      createLogPartition(transaction, partition),
    )
  }
}

export const housekeepingOptions = { access: 'write', statementTimeoutMs: 60_000 } as const

/**
 * The longest wait for the lock on the request log. All calls wait behind a waiting lock request, so
 * it is short; the caller tries again later.
 */
export const lockTimeoutMs = 100

type LogPartition = { readonly table: string; readonly fromMs: number; readonly toMs: number }

function partitionOfMonth(nowMs: number, ahead: number): LogPartition {
  const now = new Date(nowMs)
  const monthStartMs = (months: number): number =>
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)
  const fromMs = monthStartMs(ahead)
  const month = new Date(fromMs).toISOString().slice(0, 'yyyy-mm'.length).replace('-', '_')
  return { table: `calls_${month}`, fromMs, toMs: monthStartMs(ahead + 1) }
}

const lockHousekeeping = prepare(
  `select pg_advisory_xact_lock(hashtextextended('housekeeping', 0))`,
)
const selectTableExists = prepare<{ readonly tableExists: boolean }>(
  `select exists (select from pg_class where relname = :table
     and relnamespace = current_schema()::regnamespace) as "tableExists"`,
)

async function createLogPartition(
  transaction: PostgresTransaction,
  { table, fromMs, toMs }: LogPartition,
): Promise<void> {
  if (await tableExists(transaction, table)) return
  await lockHousekeeping.run(transaction, {})
  if (await tableExists(transaction, table)) return
  // Calls wait only while the rows are moved and the partition is attached.
  for (const text of [
    `set local lock_timeout = ${lockTimeoutMs}`,
    `create table ${table} (like calls including defaults including constraints)`,
    `lock table calls in share row exclusive mode`,
    `with moved as (delete from calls_rest where "atMs" >= ${fromMs} and "atMs" < ${toMs} returning *)
     insert into ${table} select * from moved`,
    `alter table calls attach partition ${table} for values from (${fromMs}) to (${toMs})`,
  ])
    await transaction.run({ text })
}

async function tableExists(on: QueryRunner, table: string): Promise<boolean> {
  return (await selectTableExists.first(on, { table }))?.tableExists === true
}

export const markSwept = prepare(markSweptSql)
