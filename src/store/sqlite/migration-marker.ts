import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A file beside a database that is being migrated to PostgreSQL, or was migrated. */
export type MigrationMarker = {
  /** The same id as in the target: the target is filled from this state of the source. */
  readonly migrationId: string
  /** The target, without a password. */
  readonly to: string
  readonly startedAtUtc: string
  readonly completedAtUtc: string | null
}

export function migrationMarkerFile(dataDir: string): string {
  return path.join(dataDir, 'moved-to')
}

/** @returns undefined if no migration of the folder's database has begun. */
export function readMigrationMarker(dataDir: string): MigrationMarker | undefined {
  try {
    return JSON.parse(readFileSync(migrationMarkerFile(dataDir), 'utf8')) as MigrationMarker
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`${migrationMarkerFile(dataDir)} cannot be read`, { cause: error })
  }
}

/** Replaces the marker atomically. It is on the disk when this function returns. */
export function writeMigrationMarker(dataDir: string, marker: MigrationMarker): void {
  const file = migrationMarkerFile(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(marker)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  if (process.platform === 'win32') return
  const folder = openSync(dataDir, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/**
 * Refuses a database that is migrated or being migrated. If both databases were used, each would
 * miss the calls, charges and deletions of the other.
 *
 * @throws Error with the location of the data and the ways to continue.
 */
export function requireNotMigrated(dataDir: string): void {
  const marker = readMigrationMarker(dataDir)
  if (!marker) return
  const { to, startedAtUtc, completedAtUtc } = marker
  const state =
    completedAtUtc === null
      ? `is being migrated to ${to} since ${startedAtUtc}; run facegate migrate again`
      : `was migrated to ${to} at ${completedAtUtc}; set DATABASE_URL`
  throw new Error(
    `the database of ${dataDir} ${state}, or delete ${migrationMarkerFile(dataDir)} to continue with ` +
      'this one, without the changes made in the other',
  )
}
