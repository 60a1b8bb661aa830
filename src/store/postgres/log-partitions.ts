import { isLockTimeout } from './connection/fault.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare, type QueryRunner } from './connection/statement.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'

/** Months that are made ahead, beside the one that runs. */
const monthsAhead = 2

/**
 * Makes the partitions of the request log for the month that runs and those to come. Rows that came
 * before anybody made their month move into it. One process does it at a time.
 */
export async function createLogPartitions(
  pool: ConnectionPool,
  nowMs: number,
  aheadMax: number = monthsAhead,
): Promise<void> {
  for (let ahead = 0; ahead <= aheadMax; ahead++) {
    const month = partitionOfMonth(nowMs, ahead)
    await transact(pool, housekeepingOptions, (running) => createLogPartition(running, month))
  }
}

const housekeepingOptions = { access: 'write', statementTimeoutMs: 60_000 } as const

/**
 * Longest wait for a table that everybody writes to: whoever comes meanwhile waits as well. Who asks
 * for it in vain tries again later.
 */
const lockTimeoutMs = 100

type LogPartition = { readonly table: string; readonly fromMs: number; readonly toMs: number }

function partitionOfMonth(nowMs: number, ahead: number): LogPartition {
  const now = new Date(nowMs)
  const startMs = (later: number): number =>
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + later)
  const fromMs = startMs(0)
  const name = new Date(fromMs).toISOString().slice(0, 'yyyy-mm'.length).replace('-', '_')
  return { table: `calls_${name}`, fromMs, toMs: startMs(1) }
}

const lockHousekeeping = prepare(
  `select pg_advisory_xact_lock(hashtextextended('housekeeping', 0))`,
)
const tableExists = prepare<{ readonly isThere: boolean }>(
  `select exists (select from pg_class where relname = :table
     and relnamespace = current_schema()::regnamespace) as "isThere"`,
)

async function createLogPartition(
  running: PostgresTransaction,
  { table, fromMs, toMs }: LogPartition,
): Promise<void> {
  if ((await tableExists.first(running, { table }))?.isThere) return
  await lockHousekeeping.run(running, {})
  if ((await tableExists.first(running, { table }))?.isThere) return
  // Calls go on meanwhile, but for the moment in which the month is put in its place.
  for (const text of [
    `set local lock_timeout = ${lockTimeoutMs}`,
    `create table ${table} (like calls including defaults including constraints)`,
    `lock table calls in share row exclusive mode`,
    `with moved as (delete from calls_rest where "atMs" >= ${fromMs} and "atMs" < ${toMs} returning *)
     insert into ${table} select * from moved`,
    `alter table calls attach partition ${table} for values from (${fromMs}) to (${toMs})`,
  ])
    await running.run({ text })
}

type SweepRange = { readonly beforeMs: number; readonly limit: number }

const expiredPartition = prepare<{ readonly table: string; readonly toMs: number }>(
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
 * Forgets old rows of the log: a month that is old enough as a whole, else the oldest rows one by
 * one, and marks how far.
 *
 * @returns how many rows; a month counts as what it held.
 */
export async function sweepCalls(on: QueryRunner, old: SweepRange): Promise<number> {
  const month = await expiredPartition.first(on, old)
  const dropped = month ? await dropPartition(on, month.table) : 0
  const sweptRows = dropped > 0 ? dropped : await deleteOldRows.run(on, old)
  if (sweptRows > 0) await markSwept.run(on, old)
  return sweptRows
}

/** Calls read and write the log all the time: its table is to be had for a moment, or not now. */
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
  if (!(await tableExists.first(on, { table }))?.isThere) return 0
  const { rows } = await on.run({ text: `select count(*) as count from ${table}` })
  await on.run({ text: `drop table ${table}` })
  return Number(rows[0]?.['count'] ?? 0)
}
