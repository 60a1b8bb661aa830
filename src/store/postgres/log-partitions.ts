import { markSweptSql } from '../gate/call-statements.ts'
import { isLockTimeout } from './connection/fault.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { type QueryRunner, prepare } from './connection/kysely-driver.ts'
import { type PostgresTransaction, transact } from './connection/transaction.ts'

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

const housekeepingOptions = { access: 'write', statementTimeoutMs: 60_000 } as const

/**
 * The longest wait for the lock on the request log. All calls wait behind a waiting lock request, so
 * it is short; the caller tries again later.
 */
const lockTimeoutMs = 100

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

/**
 * Drops the partitions of the request log whose rows are all older than a time. Each one is detached
 * and then dropped in a separate transaction: only the detachment locks the log, and it changes no
 * rows and deletes no files. It cannot run concurrently (`detach … concurrently`), because the log has
 * a default partition. If calls prevent a lock for 100 ms, or the process ends in between, the next
 * run continues.
 *
 * @returns the number of dropped tables.
 */
export async function dropOldMonths(pool: ConnectionPool, beforeMs: number): Promise<number> {
  while (await runHousekeeping(pool, (transaction) => detachOldMonth(transaction, beforeMs)));
  let dropped = 0
  while (await runHousekeeping(pool, dropDetachedMonth)) dropped += 1
  return dropped
}

/** @returns false if the job changed nothing, or if it did not get a lock in time. */
async function runHousekeeping(
  pool: ConnectionPool,
  job: (transaction: PostgresTransaction) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await transact(
      pool,
      { ...housekeepingOptions, retryOn: 'never' },
      async (transaction) => {
        await transaction.run({ text: `set local lock_timeout = ${lockTimeoutMs}` })
        return (await tryLock.first(transaction, {}))?.isLocked === true && job(transaction)
      },
    )
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

/** Only one process at a time changes the partitions; the others try again at their next sweep. */
const tryLock = prepare<{ readonly isLocked: boolean }>(
  `select pg_try_advisory_xact_lock(hashtextextended('housekeeping', 0)) as "isLocked"`,
)

const selectOldMonth = prepare<{ readonly table: string; readonly toMs: number }>(
  `select * from (
     select relid::text as "table",
       (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \\(''?(\\d+)''?\\)'))[1]::bigint as "toMs"
     from pg_partition_tree('calls') join pg_class c on c.oid = relid where isleaf) as partitions
   where "toMs" <= :beforeMs order by "toMs" limit 1`,
)

/** The name of a detached partition: `calls_2031_01` becomes `detached_calls_2031_01`. */
const detachedPrefix = 'detached_'

async function detachOldMonth(transaction: PostgresTransaction, beforeMs: number) {
  const month = await selectOldMonth.first(transaction, { beforeMs })
  if (!month) return false
  const { table, toMs } = month
  await transaction.run({ text: `alter table calls detach partition ${table}` })
  await transaction.run({ text: `alter table ${table} rename to ${detachedPrefix}${table}` })
  await markSwept.run(transaction, { beforeMs: toMs })
  return true
}

const selectDetachedMonth = prepare<{ readonly table: string }>(
  `select relname as "table" from pg_class
   where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
     and relname ~ '^${detachedPrefix}calls_\\d{4}_\\d{2}$'
   order by relname limit 1`,
)

async function dropDetachedMonth(transaction: PostgresTransaction): Promise<boolean> {
  const month = await selectDetachedMonth.first(transaction, {})
  if (!month) return false
  await transaction.run({ text: `drop table ${month.table}` })
  return true
}
