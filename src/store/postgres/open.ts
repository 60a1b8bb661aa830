import type { Log } from '../../lib/log.ts'
import type { Store, StoreOptions } from '../database.ts'
import { keyFinder, type KeyHit } from '../keys.ts'
import { refuseUnfinished } from '../move/mark.ts'
import { aboutPostgres } from './about.ts'
import { claimAtOnce } from './at-once.ts'
import { createBatches } from './batches.ts'
import { databaseOf, databaseOn } from './kysely.ts'
import { migrate } from './migrate.ts'
import { makeMonths } from './months.ts'
import { openPool, type Pool } from './pool.ts'
import { announce } from './presence.ts'
import { prepare } from './statement.ts'
import { joinClock } from './steady-clock.ts'
import { transact, type TransactionOptions } from './transaction.ts'
import { postgresReading, postgresTx } from './tx.ts'

/** A statement of a call that takes longer is given up: 503. */
const statementMsMax = 2000

/** Months of the log are looked after once in so long. */
const housekeepingMs = 3_600_000

const connectionsUsual = 16

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
  const { atCommit, log, version = '', isServer = false } = options
  const { connectionsMax = connectionsUsual } = options
  await using opened = new AsyncDisposableStack()
  const pool = openPool(url, { connectionsMax, statementMsMax, log })
  opened.defer(() => pool.close())
  await migrate(pool, log)
  await refuseUnfinished(pool)
  await checkRole(pool, log)
  const clock = await joinClock(pool, { version, log, isServer })
  opened.defer(() => clock.close())
  const presence = isServer ? await announce(url, log) : undefined
  opened.defer(() => presence?.leave())
  if (isServer) opened.use(await keepHouse(pool, log))
  const writing: TransactionOptions = { begin: 'write', redo: 'race', atCommit }
  const batches = createBatches(pool, { atCommit })
  const held = opened.move()
  return {
    isShared: true,
    isFirst: presence?.isFirst ?? false,
    steadyClock: clock.now,
    timeOfDay: clock.timeOfDay,
    connections: pool.counts,
    db: databaseOf(pool),
    write: (job) => transact(pool, writing, (running) => job(postgresTx(running, batches))),
    change: (job) =>
      transact(pool, { begin: 'write' }, async (running) => {
        const tx = postgresTx(running, batches)
        await tx.lock('change', 'alone')
        return job({ db: databaseOn(running), tx })
      }),
    read: (job) => transact(pool, { begin: 'read' }, (running) => job(postgresReading(running))),
    checkpoint: () => Promise.resolve(true),
    findKey: keyFinder(async (hash) => {
      const found = await pool.lend((session) => findKey.first(session, { hash }))
      return found?.key
    }),
    about: () => aboutPostgres(pool, url, Date.now()),
    claimAtOnce: (asked) => claimAtOnce(batches, asked),
    close: () => held.disposeAsync(),
  }
}

const findKey = prepare<{ readonly key: KeyHit }>('select "findKey" as key from "findKey"(:hash)')

const role = prepare<{ readonly name: string; readonly bypasses: boolean }>(
  `select rolname as name, rolsuper or rolbypassrls as bypasses from pg_roles
   where rolname = current_user`,
)

async function checkRole(pool: Pool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  const found = await pool.lend((session) => role.first(session, {}))
  if (found?.bypasses)
    log?.warn({ role: found.name }, 'the database role bypasses row-level security; use another')
}

/** Looks after the log's months now and from now on. */
async function keepHouse(pool: Pool, log: Pick<Log, 'warn'> | undefined): Promise<Disposable> {
  const keep = (): Promise<void> =>
    makeMonths(pool, Date.now()).catch((error: unknown) =>
      log?.warn({ err: error }, 'the months of the log could not be made ahead'),
    )
  await keep()
  const keeping = setInterval(() => void keep(), housekeepingMs)
  keeping.unref()
  return { [Symbol.dispose]: () => clearInterval(keeping) }
}
