import { Migrator, type Migration } from 'kysely'
import type { Log } from '../../lib/log.ts'
import { databaseOnTransaction } from './connection/kysely.ts'
import { migrations } from './migrations/all.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'

/**
 * Brings the database to the current schema, all of it or nothing. Of several processes that start at
 * once one does it and the others wait. A database that a later version has migrated already is fine:
 * later versions only ever add.
 */
export function migrate(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  return transact(pool, { access: 'write', statementTimeoutMs: 0 }, async (running) => {
    await lockSchema.run(running, {})
    const later = await laterMigrations(running)
    if (later.length > 0)
      log?.warn({ migrations: later }, 'a later version has migrated this database')
    const known = {
      ...migrations,
      ...Object.fromEntries(later.map((name) => [name, unknownMigration])),
    }
    const migrator = new Migrator({
      db: databaseOnTransaction(running),
      provider: { getMigrations: () => Promise.resolve(known) },
      disableTransactions: true, // It is within one.
    })
    const { error } = await migrator.migrateToLatest()
    if (error)
      throw new Error('the database could not be brought to the current schema', { cause: error })
  })
}

const lockSchema = prepare(`select pg_advisory_xact_lock(hashtextextended('schema', 0))`)

const isMigrated = prepare<{ readonly isThere: boolean }>(
  `select to_regclass('kysely_migration') is not null as "isThere"`,
)
const appliedMigrations = prepare<{ readonly name: string }>(
  'select name from kysely_migration order by name',
)

async function laterMigrations(running: PostgresTransaction): Promise<readonly string[]> {
  if (!(await isMigrated.first(running, {}))?.isThere) return []
  const last = Object.keys(migrations).at(-1) ?? ''
  return (await appliedMigrations.all(running, {}))
    .map(({ name }) => name)
    .filter((name) => name > last)
}

/** One of a later version, which it has had. */
const unknownMigration: Migration = {
  up: () => Promise.reject(new Error('this migration is of a later version')),
}
