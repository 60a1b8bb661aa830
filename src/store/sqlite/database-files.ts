import { closeSync, existsSync, openSync, statSync } from 'node:fs'

/** The name of the database file in a data folder. */
export const databaseFile = 'facegate.db'

/**
 * Returns the existing files of a database: the file itself, and those that SQLite keeps beside it and
 * reads together with it, the write-ahead log, its index and the rollback journal.
 */
export function existingDatabaseFiles(file: string): readonly string[] {
  return ['', '-wal', '-shm', '-journal'].map((suffix) => file + suffix).filter(existsSync)
}

/** Creates a file that only its owner can read, unless it exists. SQLite would use the umask. */
export function createPrivateFile(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
}

/**
 * Checks the files of a database as the master key file is checked. SQLite gives the files beside a
 * database the mode of its file.
 *
 * @throws Error with the files that other users may read, and the remedy.
 */
export function requirePrivateDatabase(file: string): void {
  if (process.platform === 'win32') return
  const exposed = existingDatabaseFiles(file).filter((name) => (statSync(name).mode & 0o077) !== 0)
  if (exposed.length > 0)
    throw new Error(`others may read the database: run chmod 600 ${exposed.join(' ')}`)
}
