import type { Log } from '../../lib/log.ts'
import { applyMigrations, readMigrationNames, requireReleased } from '../migrations.ts'
import { databaseOnTransaction, prepare, type QueryRunner } from './connection/kysely-driver.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'

/**
 * Migrates the database to the current schema in one transaction. If several processes start at the
 * same time, one migrates and the others wait. A schema of a later version is accepted, because later
 * versions only add to it.
 *
 * @throws Error for another encoding, a draft's schema or a failed migration: it changes nothing.
 */
export function migrate(pool: ConnectionPool, log: Pick<Log, 'warn'> | undefined): Promise<void> {
  return transact(pool, { access: 'write', statementTimeoutMs: 0 }, async (transaction) => {
    await lockSchema.run(transaction, {})
    await requireUtf8(transaction)
    const known = readMigrationNames(migrationsFolder)
    const applied = await readApplied(transaction)
    const last = known.at(-1) ?? ''
    const later = applied.filter((name) => name > last)
    if (later.length > 0)
      log?.warn({ migrations: later }, 'a later version has migrated this database')
    if (known.every((name) => applied.includes(name))) return
    await applyMigrations(databaseOnTransaction(transaction), migrationsFolder, later)
  })
}

const migrationsFolder = new URL('migrations/', import.meta.url)

/** Excludes other processes that change the schema until the transaction ends. */
export const lockSchema = prepare(`select pg_advisory_xact_lock(hashtextextended('schema', 0))`)

const selectOtherEncoding = prepare<{ readonly name: string; readonly encoding: string }>(
  `select current_database() as name, current_setting('server_encoding') as encoding
   where current_setting('server_encoding') <> 'UTF8'`,
)

/** @throws Error if the database cannot store every character of a text. */
export async function requireUtf8(on: QueryRunner): Promise<void> {
  const other = await selectOtherEncoding.first(on, {})
  const remedy = 'create another one with createdb --encoding UTF8 --template template0'
  if (other)
    throw new Error(`the database ${other.name} has the encoding ${other.encoding}; ${remedy}`)
}

const selectDatabase = prepare<{ readonly name: string; readonly isMigrated: boolean }>(
  `select current_database() as name, to_regclass('kysely_migration') is not null as "isMigrated"`,
)
const selectApplied = prepare<{ readonly name: string }>(
  'select name from kysely_migration order by name',
)

async function readApplied(transaction: PostgresTransaction): Promise<readonly string[]> {
  const database = await selectDatabase.first(transaction, {})
  if (!database?.isMigrated) return []
  const applied = (await selectApplied.all(transaction, {})).map(({ name }) => name)
  requireReleased(applied, `the database ${database.name}`)
  return applied
}
