import { isLockTimeout } from './connection/fault.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'
import { housekeepingOptions, lockTimeoutMs, markSwept } from './log-partitions.ts'

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

async function detachOldMonth(
  transaction: PostgresTransaction,
  beforeMs: number,
): Promise<boolean> {
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
