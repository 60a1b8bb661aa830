import { setTimeout as sleep } from 'node:timers/promises'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { unavailable } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Store, StoreOptions, DatabaseInfo, Tx } from '../database.ts'
import { requireMigrationComplete } from '../sqlite-to-postgres/progress.ts'
import { createKeyFinders, type KeyLookupRow } from '../tenancy/keys.ts'
import { createConfirmRemovals, joinSharedClock } from './shared-clock.ts'
import { admitInOneStatement, postgresReadTx, postgresTx, settleInOneStatement } from './tx.ts'
import { createBatcher } from './connection/batcher.ts'
import { isRetryable } from './connection/fault.ts'
import {
  type QueryRunner,
  databaseOnPool,
  databaseOnTransaction,
  prepare,
} from './connection/kysely-driver.ts'
import { lockTimeoutMs, openPool, type ConnectionPool } from './connection/pool.ts'
import { requireTransactions } from './connection/pooler.ts'
import { parseServerAddress, throwExplained } from './connection/server-address.ts'
import { transact, type TransactionOptions } from './connection/transaction.ts'
import { createLogPartitions, dropOldMonths } from './log-partitions.ts'
import { migrate } from './migrate-schema.ts'

/** A longer statement of a call is cancelled, and the call fails with 503. */
const statementTimeoutMsDefault = 2000

/** The interval at which the partitions of the request log are created. */
const housekeepingIntervalMs = 3_600_000

const connectionsMaxDefault = 16

/**
 * Opens a database on a PostgreSQL server, which other processes may use, too, and migrates it to the
 * current schema.
 *
 * @throws Error if the server cannot be reached or a migration fails. A failed migration changes
 *   nothing.
 */
export async function openPostgresStore(
  url: string,
  options: StoreOptions & { readonly connectionsMax?: number },
): Promise<Store> {
  const { log, version = '', isServer = false, hasGalleries = true } = options
  const { connectionsMax = connectionsMaxDefault } = options
  const { statementTimeoutMs = statementTimeoutMsDefault, readTimeoutMs } = options
  await using opened = new AsyncDisposableStack()
  const pool = openPool(url, { connectionsMax, statementTimeoutMs, log })
  opened.defer(() => pool.close())
  const explain = throwExplained(parseServerAddress(url))
  await runAsAllAccounts(() => prepareDatabase(pool, log)).catch(explain)
  // A separate connection: calls that use all others must not delay the heartbeats.
  const heartbeatOptions = { connectionsMax: 1, statementTimeoutMs, log }
  const heartbeatPool = isServer ? openPool(url, heartbeatOptions) : pool
  if (isServer) opened.defer(() => heartbeatPool.close())
  const clock = await joinSharedClock(heartbeatPool, { version, log, isServer, hasGalleries })
  opened.defer(() => clock.close())
  if (isServer) opened.use(await scheduleLogPartitions(pool, log))
  const writeOptions: TransactionOptions = { access: 'write', retryOn: 'race' }
  const readOptions = { access: 'read', statementTimeoutMs: readTimeoutMs } as const
  const runBatched = createBatcher(pool)
  const write: Store['write'] = (job) => transact(pool, writeOptions, (on) => job(postgresTx(on)))
  const resources = opened.move()
  return {
    isShared: true,
    isFirstServer: clock.isFirstServer,
    confirmRemovals: createConfirmRemovals({ pool: heartbeatPool, write, self: clock }),
    steadyClock: clock.now,
    timeOfDay: clock.timeOfDay,
    connectionCounts: pool.counts,
    db: databaseOnPool(pool),
    write,
    runExclusive: (job, accountId) =>
      transact(pool, { access: 'write' }, async (transaction) => {
        const tx = postgresTx(transaction)
        if (accountId === undefined) await lockAllChanges(transaction)
        else await lockChangesOf(tx, accountId)
        return job({ db: databaseOnTransaction(transaction), tx })
      }),
    read: (job) => transact(pool, readOptions, (transaction) => job(postgresReadTx(transaction))),
    checkpoint: () => Promise.resolve(true),
    ...createKeyFinders((hash) => readKey(pool, hash)),
    readInfo: () => readPostgresInfo(pool, url),
    dropOldLogMonths: (beforeMs) => runAsAllAccounts(() => dropOldMonths(pool, beforeMs)),
    admitCall: (input) => admitInOneStatement(runBatched, input),
    // The statement is a separate transaction; this function repeats it after a race.
    settleCall: (input) =>
      transact(pool, writeOptions, () => settleInOneStatement(runBatched, input)),
    close: () => resources.disposeAsync(),
  }
}

async function lockChangesOf(tx: Tx, accountId: string): Promise<void> {
  await tx.lock(`change:${accountId}`, 'exclusive')
  await tx.lock('change', 'shared')
}

const tryLockChanges = prepare<{ readonly isLocked: boolean }>(
  `select pg_try_advisory_xact_lock(hashtextextended('change', 0)) as "isLocked"`,
)
const lockIntervalMs = 20

/**
 * Excludes the changes of all accounts. It does not wait in the queue of the lock, in which later
 * changes of other accounts would wait behind it.
 *
 * @throws HttpError 503 if changes run all the time.
 */
async function lockAllChanges(transaction: QueryRunner): Promise<void> {
  for (let waitedMs = 0; waitedMs < lockTimeoutMs; waitedMs += lockIntervalMs) {
    if ((await tryLockChanges.first(transaction, {}))?.isLocked) return
    await sleep(lockIntervalMs)
  }
  throw unavailable('Other changes are in progress. Try again.')
}

/** Changes of the schema during a move of an account can end a read as a deadlock: it is repeated. */
async function readKey(pool: ConnectionPool, hash: Uint8Array): Promise<KeyLookupRow | undefined> {
  const read = () => pool.withSession((session) => selectKey.first(session, { hash }))
  const row = await read().catch((error: unknown) => {
    if (!isRetryable(error, 'deadlock')) throw error
    return read()
  })
  return row?.key
}

async function prepareDatabase(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined) {
  await requireTransactions(pool, log)
  await migrate(pool, log)
  await requireMigrationComplete(pool)
  await checkRole(pool, log)
}

/** The function sets the scope of all accounts itself, see the migration `001-tenancy.ts`. */
const selectKey = prepare<{ readonly key: KeyLookupRow }>(
  'select "findCallKey" as key from "findCallKey"(:hash)',
)

/** Whether row-level security does not apply to the role of the connection. */
export const selectRole = prepare<{ readonly name: string; readonly bypasses: boolean }>(
  `select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles
   where rolname = current_user`,
)

async function checkRole(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  const role = await pool.withSession((session) => selectRole.first(session, {}))
  if (role?.bypasses)
    log?.warn({ role: role.name }, 'the database role bypasses row-level security; use another')
}

/** Creates the partitions of the request log now and once in each interval. */
async function scheduleLogPartitions(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined) {
  const createPartitions = (): Promise<void> =>
    runAsAllAccounts(() => createLogPartitions(pool, Date.now())).catch((error: unknown) =>
      log?.warn({ err: error }, 'creating partitions of the request log failed; it is retried'),
    )
  await createPartitions()
  const timer = setInterval(() => void createPartitions(), housekeepingIntervalMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const selectEngine = prepare<{ readonly version: string; readonly bytes: number }>(
  `select 'PostgreSQL ' || current_setting('server_version')
     || coalesce((select ', pgvector ' || extversion from pg_extension where extname = 'vector'), '')
     as version,
     pg_database_size(current_database()) as bytes`,
)
function readPostgresInfo(pool: ConnectionPool, url: string): Promise<DatabaseInfo> {
  return pool.withSession(async (session) => {
    const engine = await selectEngine.first(session, {})
    const { host, pathname } = new URL(url)
    return {
      kind: 'postgres',
      place: `${host}${decodeURIComponent(pathname)}`,
      version: engine?.version ?? 'PostgreSQL',
      bytes: engine?.bytes ?? 0,
    }
  })
}
