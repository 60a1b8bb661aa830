import type { Log } from '../../lib/log.ts'
import type { Store, StoreOptions } from '../database.ts'
import { createKeyFinder, type KeyLookupRow } from '../tenancy/keys.ts'
import { requireMigrationComplete } from '../sqlite-to-postgres/progress.ts'
import { readPostgresInfo } from './read-info.ts'
import { admitInOneStatement } from './single-statement.ts'
import { createBatcher } from './connection/batcher.ts'
import { databaseOnPool, databaseOnTransaction } from './connection/kysely.ts'
import { migrate } from './migrate.ts'
import { createLogPartitions } from './log-partitions.ts'
import { openPool, type ConnectionPool } from './connection/pool.ts'
import { registerServer } from './server-registry.ts'
import { prepare } from './connection/statement.ts'
import { joinSharedClock } from './shared-clock.ts'
import { transact, type TransactionOptions } from './connection/transaction.ts'
import { postgresReading, postgresTx } from './tx.ts'

/** A statement of a call that takes longer is given up: 503. */
const statementTimeoutMs = 2000

/** Months of the log are looked after once in so long. */
const housekeepingIntervalMs = 3_600_000

const connectionsMaxDefault = 16

/**
 * Opens a database on a PostgreSQL server, which other processes may be at work on as well, and
 * brings it to the current schema.
 *
 * @throws Error if it cannot be reached or a migration fails; nothing is half-migrated.
 */
export async function openPostgresStore(
  url: string,
  options: StoreOptions & { readonly connectionsMax?: number },
): Promise<Store> {
  const { onCommit: atCommit, log, version = '', isServer = false } = options
  const { connectionsMax = connectionsMaxDefault } = options
  await using opened = new AsyncDisposableStack()
  const pool = openPool(url, { connectionsMax, statementTimeoutMs: statementTimeoutMs, log })
  opened.defer(() => pool.close())
  await migrate(pool, log)
  await requireMigrationComplete(pool)
  await checkRole(pool, log)
  const clock = await joinSharedClock(pool, { version, log, isServer })
  opened.defer(() => clock.close())
  const presence = isServer ? await registerServer(url, log) : undefined
  opened.defer(() => presence?.unregister())
  if (isServer) opened.use(await scheduleLogPartitions(pool, log))
  const writing: TransactionOptions = { access: 'write', retryOn: 'race', onCommit: atCommit }
  const batches = createBatcher(pool, { onCommit: atCommit })
  const held = opened.move()
  return {
    isShared: true,
    isFirstServer: presence?.isFirstServer ?? false,
    steadyClock: clock.now,
    timeOfDay: clock.timeOfDay,
    connectionCounts: pool.counts,
    db: databaseOnPool(pool),
    write: (job) => transact(pool, writing, (running) => job(postgresTx(running, batches))),
    runExclusive: (job) =>
      transact(pool, { access: 'write' }, async (running) => {
        const tx = postgresTx(running, batches)
        await tx.lock('change', 'alone')
        return job({ db: databaseOnTransaction(running), tx })
      }),
    read: (job) => transact(pool, { access: 'read' }, (running) => job(postgresReading(running))),
    checkpoint: () => Promise.resolve(true),
    findKey: createKeyFinder(async (hash) => {
      const found = await pool.withSession((session) => selectKey.first(session, { hash }))
      return found?.key
    }),
    readInfo: () => readPostgresInfo(pool, url, Date.now()),
    admitInOneStatement: (asked) => admitInOneStatement(batches, asked),
    close: () => held.disposeAsync(),
  }
}

const selectKey = prepare<{ readonly key: KeyLookupRow }>(
  'select "findKey" as key from "findKey"(:hash)',
)

const selectRole = prepare<{ readonly name: string; readonly bypasses: boolean }>(
  `select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles
   where rolname = current_user`,
)

async function checkRole(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  const found = await pool.withSession((session) => selectRole.first(session, {}))
  if (found?.bypasses)
    log?.warn({ role: found.name }, 'the database role bypasses row-level security; use another')
}

/** Looks after the log's months now and from now on. */
async function scheduleLogPartitions(
  pool: ConnectionPool,
  log: Pick<Log, 'warn'> | undefined,
): Promise<Disposable> {
  const keep = (): Promise<void> =>
    createLogPartitions(pool, Date.now()).catch((error: unknown) =>
      log?.warn({ err: error }, 'the months of the log could not be made ahead'),
    )
  await keep()
  const keeping = setInterval(() => void keep(), housekeepingIntervalMs)
  keeping.unref()
  return { [Symbol.dispose]: () => clearInterval(keeping) }
}
