import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Migration } from 'kysely'
import { Migrator, sql } from './database.ts'
import type { Database } from './schema.ts'

/** Each file is called like its migration: SQL, or a module that exports SQL statements. */
const migrationFile = /^\d{3}-[^.]+\.(?:[jt]s|sql)$/u

/** Drafts of version 0.1.0 numbered their migrations with four digits. */
const draftMigration = /^\d{4}-/u

/**
 * Returns the names of the migrations in a folder, in their order, without loading the files: a start
 * on a current database needs only the names.
 */
export function readMigrationNames(folder: URL): readonly string[] {
  return migrationFiles(folder).map((file) => path.parse(file).name)
}

function migrationFiles(folder: URL): readonly string[] {
  return readdirSync(folder)
    .filter((file) => migrationFile.test(file))
    .toSorted()
}

/**
 * @param applied the names of the migrations that were applied to the database.
 * @throws Error if a draft of version 0.1.0 created the database.
 */
export function requireReleased(applied: readonly string[], database: string): void {
  const draft = applied.find((name) => draftMigration.test(name))
  if (draft !== undefined)
    throw new Error(
      `${database} was created by a draft of version 0.1.0 (migration ${draft}) and cannot be ` +
        'upgraded. It was not changed. Start with an empty data folder or database',
    )
}

/**
 * Applies the migrations of a folder that are not applied yet, in the transaction of the caller. The
 * table `kysely_migration` contains the applied ones.
 *
 * @param later the names of applied migrations of a later version, which are accepted.
 * @throws Error if a migration fails.
 */
export async function applyMigrations(db: Database, folder: URL, later: readonly string[] = []) {
  const provider = { getMigrations: () => loadMigrations(folder, later) }
  const migrator = new Migrator({ db, provider, disableTransactions: true })
  const { error: cause } = await migrator.migrateToLatest()
  if (cause)
    throw new Error('the migration of the database to the current schema failed', { cause })
}

async function loadMigrations(folder: URL, later: readonly string[]) {
  const migrations: Record<string, Migration> = {}
  for (const file of migrationFiles(folder)) {
    const statements = await loadStatements(new URL(file, folder))
    migrations[path.parse(file).name] = {
      up: async (db) => {
        for (const text of statements) await sql.raw(text).execute(db)
      },
    }
  }
  for (const name of later) migrations[name] = laterMigration
  return migrations
}

async function loadStatements(file: URL): Promise<readonly string[]> {
  if (file.pathname.endsWith('.sql')) return readStatements(file)
  const module: unknown = await import(file.href)
  return (module as { readonly statements: readonly string[] }).statements
}

/** Reads the statements of an SQL file, which empty lines separate. Its comments are left out. */
export function readStatements(file: URL): readonly string[] {
  const statements = readFileSync(file, 'utf8').split('\n\n')
  return statements.map(withoutComments).filter((statement) => statement !== '')
}

function withoutComments(statement: string): string {
  const lines = statement.split('\n').filter((line) => !line.trimStart().startsWith('--'))
  return lines.join('\n').trim()
}

/** Stands for an applied migration of a later version, so that kysely accepts it. */
const laterMigration: Migration = {
  up: () => Promise.reject(new Error('this migration requires a later version')),
}
