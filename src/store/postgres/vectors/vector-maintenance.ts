import { createHash } from 'node:crypto'
import type { Log } from '../../../lib/log.ts'
import { openPool, type ConnectionPool, type PostgresSession } from '../connection/pool.ts'
import { partitionName, vectorPartitions, vectorTableStatements } from './vector-tables.ts'
import { quoteLiteral } from '../connection/values.ts'

/** What the search in the database needs done that no transaction does. */
export type VectorMaintenance = AsyncDisposable & {
  /**
   * Builds the index that a gallery's search by a model uses, unless it is there or another server
   * is building it. Searches and writes go on meanwhile. The signal breaks it off.
   */
  readonly buildIndex: (of: VectorIndexKey, signal: AbortSignal) => Promise<void>
  /** Clears deleted vectors out of tables and indexes where it is time to. */
  readonly vacuum: () => Promise<void>
}

export type VectorIndexKey = {
  readonly galleryId: string
  readonly modelId: string
  /** Of the vectors as they are stored. */
  readonly dimensions: number
}

type VectorMaintenanceOptions = { readonly log: Pick<Log, 'info' | 'warn'> }

/**
 * Opens the upkeep on connections of its own, whose statements may take their time, and makes the
 * tables where they are missing.
 *
 * @throws Error when the database has no pgvector, or one that is too old.
 */
export async function openVectorMaintenance(
  url: string,
  { log }: VectorMaintenanceOptions,
): Promise<VectorMaintenance> {
  const pool = openPool(url, { connectionsMax: 2, statementTimeoutMs: 0, log })
  try {
    await pool.withSession(async (session) => {
      await requireExtension(session, log)
      await createTables(session)
    })
  } catch (error) {
    await pool.close()
    throw error
  }
  return {
    buildIndex: (of, signal) => buildVectorIndex(pool, of, { log, signal }),
    vacuum: () => vacuumDuePartitions(pool),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

/** Scans of an index that go on until enough was found came with it. */
const versionMin = [0, 8, 0]
/** Earlier ones write beyond their memory when several workers build an index (CVE-2026-3172). */
const versionRecommended = [0, 8, 4]

async function requireExtension(
  session: PostgresSession,
  log: VectorMaintenanceOptions['log'],
): Promise<void> {
  const version = (await extensionVersion(session)) ?? (await createExtension(session))
  if (isBefore(version, versionMin))
    throw new Error(
      `SEARCH=pgvector needs pgvector ${versionMin.join('.')}; the database has ${version}`,
    )
  if (isBefore(version, versionRecommended))
    log.warn(
      { version, advised: versionRecommended.join('.') },
      'this pgvector has a known fault: update it',
    )
}

async function extensionVersion(session: PostgresSession): Promise<string | undefined> {
  const text = `select extversion from pg_extension where extname = 'vector'`
  const [row] = (await session.run({ text })).rows
  return row && String(row['extversion'])
}

async function createExtension(session: PostgresSession): Promise<string> {
  try {
    await session.run({ text: 'create extension if not exists vector' })
  } catch (cause) {
    const how = 'install it, and run "create extension vector" there as a superuser'
    throw new Error(`SEARCH=pgvector: the database has no pgvector; ${how}`, { cause })
  }
  return (await extensionVersion(session)) ?? ''
}

function isBefore(version: string, other: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  const at = other.findIndex((part, index) => part !== (parts[index] ?? 0))
  return at >= 0 && (parts[at] ?? 0) < (other[at] ?? 0)
}

/** Several servers may start at once: one makes the tables, the others wait. */
async function createTables(session: PostgresSession): Promise<void> {
  await session.run({ text: 'begin' })
  try {
    await session.run({ text: `select pg_advisory_xact_lock(${lockKey('tables')})` })
    const { rows } = await session.run({ text: `select to_regclass('vectors') is null as missing` })
    if (rows[0]?.['missing'] === true) {
      // The counts are of all accounts.
      await session.run({ text: `select set_config('facegate.account', '*', true)` })
      for (const text of vectorTableStatements()) await session.run({ text })
    }
    await session.run({ text: 'commit' })
  } catch (error) {
    await session.run({ text: 'rollback' })
    throw error
  }
}

type IndexBuildOptions = VectorMaintenanceOptions & { readonly signal: AbortSignal }

async function buildVectorIndex(
  pool: ConnectionPool,
  of: VectorIndexKey,
  { log, signal }: IndexBuildOptions,
): Promise<void> {
  await pool.withSession(async (session) => {
    const table = await findPartition(session, of.galleryId)
    const name = indexName(table, of)
    const lock = lockKey(name)
    if ((await findIndexState(session, name)) === 'valid') return
    const { rows } = await session.run({ text: `select pg_try_advisory_lock(${lock}) as mine` })
    if (rows[0]?.['mine'] !== true) return
    try {
      // A build that was cut off leaves an index that nobody uses.
      if ((await findIndexState(session, name)) === 'invalid')
        await session.run({ text: `drop index concurrently ${name}` })
      await using _ = await cancelOnAbort(signal, pool, session)
      await createIndex(session, table, of, log)
    } finally {
      await session.run({ text: `select pg_advisory_unlock(${lock})` })
    }
  })
}

/** The connection is busy: that it is to stop has to be said on another one. */
async function cancelOnAbort(
  signal: AbortSignal,
  pool: ConnectionPool,
  session: PostgresSession,
): Promise<AsyncDisposable> {
  const { rows } = await session.run({ text: 'select pg_backend_pid() as pid' })
  const values = [rows[0]?.['pid']]
  let cancelled: Promise<unknown> | undefined
  const cancel = (): void => {
    cancelled = pool.withSession((other) =>
      other.run({ text: 'select pg_cancel_backend($1)', values }),
    )
  }
  signal.throwIfAborted()
  signal.addEventListener('abort', cancel)
  return {
    [Symbol.asyncDispose]: async () => {
      signal.removeEventListener('abort', cancel)
      await cancelled
    },
  }
}

/** Links of a row in the graph, and rows that are weighed for them; docs/recognition/search.md says why so many. */
const graphLinks = 32
const efConstruction = 200

async function createIndex(
  session: PostgresSession,
  table: string,
  of: VectorIndexKey,
  log: VectorMaintenanceOptions['log'],
): Promise<void> {
  const { modelId, dimensions } = of
  const name = indexName(table, of)
  const startMs = performance.now()
  log.info(
    { index: name, modelId },
    'an index of vectors is being built; searches look at each row',
  )
  // One worker: see above; and many a container has no shared memory for more.
  await session.run({ text: 'set max_parallel_maintenance_workers = 0' })
  // A limit, taken as it is needed: a graph that outgrows it is built many times more slowly.
  await session.run({ text: `set maintenance_work_mem = '1GB'` })
  await session.run({
    text: `create index concurrently if not exists ${name} on ${table}
      using hnsw ((embedding::halfvec(${dimensions})) halfvec_l2_ops)
      with (m = ${graphLinks}, ef_construction = ${efConstruction})
      where "modelId" = ${quoteLiteral(modelId)}`,
  })
  const seconds = Math.round((performance.now() - startMs) / 1000)
  log.info({ index: name, modelId, seconds }, 'an index of vectors was built')
}

async function findIndexState(
  session: PostgresSession,
  index: string,
): Promise<'none' | 'valid' | 'invalid'> {
  const text = 'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)'
  const [row] = (await session.run({ text, values: [index] })).rows
  if (!row) return 'none'
  return row['valid'] === true ? 'valid' : 'invalid'
}

async function findPartition(session: PostgresSession, galleryId: string): Promise<string> {
  const text = `select part from generate_series(0, ${vectorPartitions - 1}) part
    where satisfies_hash_partition('vectors'::regclass, ${vectorPartitions}, part, $1::text)`
  const [row] = (await session.run({ text, values: [galleryId] })).rows
  return partitionName(Number(row?.['part']))
}

function indexName(table: string, { modelId, dimensions }: VectorIndexKey): string {
  const model = createHash('sha256').update(modelId).digest('hex').slice(0, 8)
  return `${table}_near_${model}_${dimensions}`
}

/**
 * How long a deleted vector may lie in the files of the database before they are cleared: a vacuum
 * walks through the whole of an index, some two minutes for 100 MB on a busy machine.
 */
const vacuumIntervalMinutesSql = '10 + 10 * (pg_indexes_size(relid) / 100e6)'

async function vacuumDuePartitions(pool: ConnectionPool): Promise<void> {
  await pool.withSession(async (session) => {
    const due = `select relname as name from pg_stat_user_tables
      where relid in (select inhrelid from pg_inherits where inhparent = 'vectors'::regclass)
        and n_dead_tup > 0
        and coalesce(last_vacuum, '-infinity')
          < now() - interval '1 minute' * (${vacuumIntervalMinutesSql})`
    for (const { name } of (await session.run({ text: due })).rows)
      await session.run({ text: `vacuum (skip_locked) ${String(name)}` })
  })
}

/** A number for a lock, by what it is of. */
function lockKey(name: string): bigint {
  return createHash('sha256').update(`facegate vectors ${name}`).digest().readBigInt64BE()
}
