import { readdirSync } from 'node:fs'

const migrationFile = /^(?<name>\d{4}-[^.]+)\.[jt]s$/u

/**
 * Returns the names of the migrations in a folder, in their order. Each file is called like its
 * migration, so that a start on a current database loads none of them.
 */
export function readMigrationNames(folder: URL): readonly string[] {
  return readdirSync(folder)
    .flatMap((file) => migrationFile.exec(file)?.groups?.['name'] ?? [])
    .toSorted()
}
