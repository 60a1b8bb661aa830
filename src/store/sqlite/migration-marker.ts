import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What stands beside a database that is being moved elsewhere, or was. */
export type MigrationMarker = {
  /** The same as in the database that is filled: both belong to one state of this one. */
  readonly migrationId: string
  /** Where to, without a password. */
  readonly to: string
  readonly startedAtUtc: string
  readonly completedAtUtc: string | null
}

export function migrationMarkerFile(dataDir: string): string {
  return path.join(dataDir, 'moved-to')
}

/** @returns undefined when the database of the folder is in use, as ever. */
export function readMigrationMarker(dataDir: string): MigrationMarker | undefined {
  try {
    return JSON.parse(readFileSync(migrationMarkerFile(dataDir), 'utf8')) as MigrationMarker
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(`${migrationMarkerFile(dataDir)} cannot be read`, { cause: error })
  }
}

/** Written as a whole and on the disk when this returns. */
export function writeMigrationMarker(dataDir: string, moved: MigrationMarker): void {
  const file = migrationMarkerFile(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(moved)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  if (process.platform === 'win32') return
  const folder = openSync(dataDir, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/**
 * Two databases that both go on would each lack what happens in the other: calls, money, deletions.
 *
 * @throws Error that says where the data is and how to go on here all the same.
 */
export function requireNotMigrated(dataDir: string): void {
  const moved = readMigrationMarker(dataDir)
  if (!moved) return
  const { to, startedAtUtc, completedAtUtc } = moved
  const state =
    completedAtUtc === null
      ? `is being moved to ${to} since ${startedAtUtc}; run facegate migrate again`
      : `was moved to ${to} at ${completedAtUtc}; set DATABASE_URL`
  throw new Error(
    `the database of ${dataDir} ${state}, or delete ${migrationMarkerFile(dataDir)} to go on with this one, ` +
      'without whatever has happened there',
  )
}
