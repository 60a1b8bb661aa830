import { existsSync, statSync } from 'node:fs'
import { chmod, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { describeError } from '../../lib/observability/describe-error.ts'
import { databaseFile } from './database-files.ts'

/**
 * More pages than any database has. The copy is then made in one step: it is one snapshot, and
 * writers cannot restart it.
 */
const allPages = 2 ** 31 - 1

/**
 * Copies the database of a data folder into a new file while the server continues to write. The copy
 * is checked before it gets its final name. It is a single file without a write-ahead log.
 *
 * @throws Error if the file exists already or the copy is damaged.
 */
export async function backupSqlite(dataDir: string, file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} exists already; name a new file`)
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  const source = new DatabaseSync(path.join(dataDir, databaseFile), { readOnly: true })
  try {
    await (await open(unfinished, 'wx', 0o600)).close()
    await backup(source, unfinished, { rate: allPages })
    checkIntegrity(unfinished)
    await publishBackup(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw new Error(`${file} cannot be created: ${describeError(error)}`, { cause: error })
  } finally {
    source.close()
  }
}

/** Reads all pages of a copy that no process uses. @throws Error if it is damaged. */
export function checkIntegrity(file: string): void {
  const copy = new DatabaseSync(file)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
    requireIntact(copy, 'the copy')
    // SQLite reads the missing end of the last page as zeros.
    const pages = 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size'
    if (copy.prepare(pages).get()?.['bytes'] !== statSync(file).size)
      throw new Error('the copy is damaged: it is not complete')
  } finally {
    copy.close()
  }
}

/**
 * Reads all pages of the database of a data folder, also beside a server.
 *
 * @throws Error if it is damaged.
 */
export function checkDatabase(dataDir: string): void {
  const database = new DatabaseSync(path.join(dataDir, databaseFile), { readOnly: true })
  try {
    requireIntact(database, 'the database')
  } finally {
    database.close()
  }
}

function requireIntact(database: DatabaseSync, name: string): void {
  const result = database.prepare('PRAGMA integrity_check').get()?.['integrity_check']
  if (result !== 'ok') throw new Error(`${name} is damaged: ${String(result)}`)
}

/** Writes the copy to the disk before it gives it its final name. */
async function publishBackup(unfinished: string, file: string): Promise<void> {
  await chmod(unfinished, 0o600)
  await using handle = await open(unfinished, 'r+')
  await handle.sync()
  await rename(unfinished, file)
  await using folder = await open(path.dirname(file), 'r')
  await folder.sync()
}
