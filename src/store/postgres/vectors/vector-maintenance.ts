import { createHash } from 'node:crypto'
import type { Log } from '../../../lib/log.ts'
import { readStatements } from '../../migrations.ts'
import { type ConnectionPool, type PostgresSession, openPool } from '../connection/pool.ts'
import { requireDirect } from '../connection/pooler.ts'
import { quoteLiteral } from '../connection/values.ts'
import { indexPlans } from '../migrations/index-plans.ts'
import { ofGallery, secure } from '../migrations/row-security.ts'

/** The maintenance of the tables for search in the database, outside of transactions. */
export type VectorMaintenance = AsyncDisposable & Awaited<ReturnType<typeof openVectorMaintenance>>

export type VectorIndexKey = {
  readonly galleryId: string
  readonly modelId: string
  /** The dimensions of the stored vectors. */
  readonly dimensions: number
}

type VectorMaintenanceOptions = { readonly log: Pick<Log, 'info' | 'warn'> }

/**
 * Opens the maintenance on separate connections without a statement timeout, and creates missing
 * tables and rows.
 *
 * @throws Error if the database has no pgvector or a version that is too old, or if a pooler is
 *   between.
 */
export async function openVectorMaintenance(url: string, { log }: VectorMaintenanceOptions) {
  const pool = openPool(url, { connectionsMax: 2, statementTimeoutMs: 0, log })
  try {
    await pool.withSession(async (session) => {
      requireDirect(session, 'SEARCH=pgvector')
      await requireExtension(session, log)
      await createTables(session)
    })
  } catch (error) {
    await pool.close()
    throw error
  }
  return {
    /**
     * Builds the index for a gallery and a model, unless it exists or another server is building
     * it. Searches and writes continue meanwhile. The signal cancels the build.
     */
    buildIndex: (key: VectorIndexKey, signal: AbortSignal): Promise<void> =>
      buildVectorIndex(pool, key, { log, signal }),
    /** Removes deleted vectors from the tables and indexes that are due for it. */
    vacuum: (): Promise<void> => vacuumDuePartitions(pool),
    [Symbol.asyncDispose]: () => pool.close(),
  }
}

/** The first version with iterative index scans, which continue until enough rows are found. */
const versionMin = [0, 8, 0]
/** Earlier versions have a buffer overflow in parallel index builds (CVE-2026-3172). */
const versionRecommended = [0, 8, 4]

async function requireExtension(session: PostgresSession, log: VectorMaintenanceOptions['log']) {
  const version = (await extensionVersion(session)) ?? (await createExtension(session))
  if (isBefore(version, versionMin))
    throw new Error(
      `SEARCH=pgvector needs pgvector ${versionMin.join('.')}; the database has ${version}`,
    )
  if (isBefore(version, versionRecommended))
    log.warn(
      { version, advised: versionRecommended.join('.') },
      'this version of pgvector has a known vulnerability; update it',
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
    const remedy = 'install it, and run "create extension vector" in the database as a superuser'
    throw new Error(`SEARCH=pgvector: the database has no pgvector; ${remedy}`, { cause })
  }
  return (await extensionVersion(session)) ?? ''
}

function isBefore(version: string, other: readonly number[]): boolean {
  const parts = version.split('.').map(Number)
  const index = other.findIndex((part, position) => part !== (parts[position] ?? 0))
  return index >= 0 && (parts[index] ?? 0) < (other[index] ?? 0)
}

/** Creates the tables. If several servers start at the same time, one does it and the others wait. */
async function createTables(session: PostgresSession): Promise<void> {
  await session.run({ text: 'begin' })
  try {
    await session.run({ text: `select pg_advisory_xact_lock(${lockKey('tables')})` })
    const { rows } = await session.run({ text: `select to_regclass('vectors') is null as missing` })
    // The tables contain the subjects of all accounts.
    await session.run({ text: `select set_config('facegate.account', '*', true)` })
    if (rows[0]?.['missing'] === true)
      for (const text of vectorTableStatements()) await session.run({ text })
    await session.run({ text: addMissingVectors })
    await session.run({ text: 'commit' })
  } catch (error) {
    await session.run({ text: 'rollback' })
    throw error
  }
}

async function buildVectorIndex(
  pool: ConnectionPool,
  key: VectorIndexKey,
  { log, signal }: VectorMaintenanceOptions & { readonly signal: AbortSignal },
): Promise<void> {
  await pool.withSession(async (session) => {
    const table = await findPartition(session, key.galleryId)
    const name = indexName(table, key)
    const lock = lockKey(name)
    if ((await findIndexState(session, name)) === 'valid') return
    const { rows } = await session.run({ text: `select pg_try_advisory_lock(${lock}) as locked` })
    if (rows[0]?.['locked'] !== true) return
    try {
      // An interrupted build leaves an invalid index, which no query uses.
      if ((await findIndexState(session, name)) === 'invalid')
        await session.run({ text: `drop index concurrently ${name}` })
      await using _ = await cancelOnAbort(signal, pool, session)
      await createIndex(session, table, key, log)
    } finally {
      await session.run({ text: `select pg_advisory_unlock(${lock})` })
    }
  })
}

/** Cancels the session's statement when the signal aborts. That needs a second connection. */
async function cancelOnAbort(signal: AbortSignal, pool: ConnectionPool, session: PostgresSession) {
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

/** Links per row of the graph, and candidates for them; docs/recognition/search.md gives the reasons. */
const graphLinks = 32
const efConstruction = 200

async function createIndex(
  session: PostgresSession,
  table: string,
  key: VectorIndexKey,
  log: VectorMaintenanceOptions['log'],
): Promise<void> {
  const { modelId, dimensions } = key
  const name = indexName(table, key)
  const startMs = performance.now()
  log.info(
    { index: name, modelId },
    'building a vector index started; searches scan all rows until it is complete',
  )
  // No parallel workers: see the recommended version. Many containers also lack the shared memory.
  await session.run({ text: 'set max_parallel_maintenance_workers = 0' })
  // An upper limit, allocated as needed. A graph that exceeds it is built many times more slowly.
  await session.run({ text: `set maintenance_work_mem = '1GB'` })
  await session.run({
    text: `create index concurrently if not exists ${name} on ${table}
      using hnsw ((embedding::halfvec(${dimensions})) halfvec_l2_ops)
      with (m = ${graphLinks}, ef_construction = ${efConstruction})
      where "modelId" = ${quoteLiteral(modelId)}`,
  })
  const seconds = Math.round((performance.now() - startMs) / 1000)
  log.info({ index: name, modelId, seconds }, 'the vector index is complete')
}

async function findIndexState(session: PostgresSession, index: string) {
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
 * The shortest interval between two vacuums of a partition. A deleted vector stays in the database
 * files until the next vacuum, which reads the whole index: about two minutes per 100 MB on a busy
 * machine.
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

/** Returns the number of a lock by its name. */
function lockKey(name: string): bigint {
  return createHash('sha256').update(`facegate vectors ${name}`).digest().readBigInt64BE()
}

/**
 * The tables for search in the database. They are created at their first use, because not every
 * database has the extension. Triggers maintain the counts and mark vectors as stale. Therefore a
 * search detects subjects without a current vector even if a server with search in memory, or a person
 * in psql, changed them.
 */
function vectorTableStatements(): string[] {
  return [
    ...readStatements(new URL('vector-tables.sql', import.meta.url)),
    // A vacuum must also clean the indexes, so that deleted vectors are removed from them.
    ...Array.from(
      { length: vectorPartitions },
      (_, part) => `create table ${partitionName(part)} partition of vectors
        for values with (modulus ${vectorPartitions}, remainder ${part})
        with (vacuum_index_cleanup = on)`,
    ),
    ...indexPlans('"markVectors"(text, text, text)'),
    ...indexPlans('"markVectorOfTemplate"()'),
    ...indexPlans('"markVectorsOfFace"()'),
    ...secure(ofGallery, 'vectors', 'templateCounts'),
  ]
}

const vectorPartitions = 16

function partitionName(part: number): string {
  return `vectors_${part}`
}

/**
 * Adds stale rows where templates have no row: in a new table, and if rows were deleted or left out of a
 * dump. Otherwise no search would find their subjects.
 */
const addMissingVectors = `insert into vectors ("galleryId", "subjectId", "modelId")
  select distinct f."galleryId", f."subjectId", t."modelId"
    from templates t join faces f using ("galleryId", "faceId")
    where not exists (select from vectors v where v."galleryId" = f."galleryId"
      and v."subjectId" = f."subjectId" and v."modelId" = t."modelId")
  on conflict do nothing`
