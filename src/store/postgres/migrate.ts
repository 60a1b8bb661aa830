import type { Migration } from 'kysely'
import type { Log } from '../../lib/log.ts'
import { Migrator } from '../kysely.ts'
import { readMigrationNames } from '../migration-names.ts'
import { databaseOnTransaction } from './connection/kysely.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'

/**
 * Migrates the database to the current schema in one transaction. If several processes start at the
 * same time, one migrates and the others wait. A schema of a later version is accepted, because later
 * versions only add to it.
 */
export function migrate(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  return transact(pool, { access: 'write', statementTimeoutMs: 0 }, async (transaction) => {
    await lockSchema.run(transaction, {})
    const known = readMigrationNames(new URL('migrations/', import.meta.url))
    const applied = await appliedMigrations(transaction)
    const last = known.at(-1) ?? ''
    const later = applied.filter((name) => name > last)
    if (later.length > 0)
      log?.warn({ migrations: later }, 'a later version has migrated this database')
    if (known.every((name) => applied.includes(name))) return
    const { migrations } = await import('./migrations/all.ts')
    const allMigrations = {
      ...migrations,
      ...Object.fromEntries(later.map((name) => [name, laterMigration])),
    }
    const migrator = new Migrator({
      db: databaseOnTransaction(transaction),
      provider: { getMigrations: () => Promise.resolve(allMigrations) },
      disableTransactions: true, // The transaction is already open.
    })
    const { error } = await migrator.migrateToLatest()
    if (error)
      throw new Error('the migration of the database to the current schema failed', {
        cause: error,
      })
  })
}

/** Excludes other processes that change the schema until the transaction ends. */
export const lockSchema = prepare(`select pg_advisory_xact_lock(hashtextextended('schema', 0))`)

const selectIsMigrated = prepare<{ readonly isMigrated: boolean }>(
  `select to_regclass('kysely_migration') is not null as "isMigrated"`,
)
const selectApplied = prepare<{ readonly name: string }>(
  'select name from kysely_migration order by name',
)

async function appliedMigrations(transaction: PostgresTransaction): Promise<readonly string[]> {
  if (!(await selectIsMigrated.first(transaction, {}))?.isMigrated) return []
  return (await selectApplied.all(transaction, {})).map(({ name }) => name)
}

/** Stands for an applied migration of a later version, so that kysely accepts it. */
const laterMigration: Migration = {
  up: () => Promise.reject(new Error('this migration requires a later version')),
}
