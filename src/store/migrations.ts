import { readdirSync } from 'node:fs'
import type { Migration } from 'kysely'
import { sql } from './load-kysely.ts'

const migrationFile = /^(?<name>\d{3}-[^.]+)\.[jt]s$/u

/** Drafts of version 0.1.0 numbered their migrations with four digits. */
const draftMigration = /^\d{4}-/u

/**
 * Returns the names of the migrations in a folder, in their order. Each file is called like its
 * migration, so that a start on a current database loads none of them.
 */
export function readMigrationNames(folder: URL): readonly string[] {
  return readdirSync(folder)
    .flatMap((file) => migrationFile.exec(file)?.groups?.['name'] ?? [])
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

/** Returns migrations that run the statements of each name, in their order. */
export function sqlMigrations(
  statements: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, Migration>> {
  return Object.fromEntries(
    Object.entries(statements).map(([name, texts]): [string, Migration] => [
      name,
      {
        up: async (db) => {
          for (const text of texts) await sql.raw(text).execute(db)
        },
      },
    ]),
  )
}
