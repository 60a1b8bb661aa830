import { isLockTimeout } from './connection/fault.ts'
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

type SweepRange = { readonly beforeMs: number; readonly limit: number }

const selectExpiredPartition = prepare<{ readonly table: string; readonly toMs: number }>(
  `select relid::text as "table",
     (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \\(''?(\\d+)''?\\)'))[1]::bigint as "toMs"
   from pg_partition_tree('calls') join pg_class c on c.oid = relid
   where isleaf and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
     and (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \\(''?(\\d+)''?\\)'))[1]::bigint <= :beforeMs
   order by 2 limit 1`,
)
const deleteOldRows = prepare(
  `delete from calls where ("callId", "atMs") in (
     select "callId", "atMs" from calls where "atMs" < :beforeMs order by "atMs" limit :limit
     for update skip locked)`,
)
const markSwept = prepare(
  `insert into marks as m (name, "valueMs") values ('callsSweptBefore', :beforeMs)
   on conflict (name) do update set "valueMs" = greatest(m."valueMs", excluded."valueMs")`,
)

/**
 * Deletes old rows of the log: a whole partition if all of its rows are old enough, otherwise single
 * rows, the oldest first. It records up to when rows were deleted.
 *
 * @returns the number of deleted rows, including those of a partition.
 */
export async function sweepCalls(on: QueryRunner, range: SweepRange): Promise<number> {
  const partition = await selectExpiredPartition.first(on, range)
  const droppedRows = partition ? await dropPartition(on, partition.table) : 0
  const sweptRows = droppedRows > 0 ? droppedRows : await deleteOldRows.run(on, range)
  if (sweptRows > 0) await markSwept.run(on, range)
  return sweptRows
}

/** Drops a partition. @returns its number of rows; 0 if calls prevented the lock on the log. */
async function dropPartition(on: QueryRunner, table: string): Promise<number> {
  await on.run({ text: 'savepoint months' })
  try {
    await on.run({ text: `set local lock_timeout = ${lockTimeoutMs}` })
    await on.run({ text: 'lock table calls in access exclusive mode' })
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await on.run({ text: 'rollback to savepoint months' })
    return 0
  }
  if (!(await tableExists(on, table))) return 0
  const { rows } = await on.run({ text: `select count(*) as count from ${table}` })
  await on.run({ text: `drop table ${table}` })
  return Number(rows[0]?.['count'] ?? 0)
}
