import { existsSync } from 'node:fs'
import { chmod, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'

/** More pages than a database has: a copy in one piece is of one moment, and no writer restarts it. */
const allPages = 2 ** 31 - 1

/**
 * Copies the database of a data folder into a new file, beside a server that goes on writing. The
 * copy is checked before it takes its name, and is one file, without a log beside it.
 *
 * @throws Error when there is such a file already, or the copy is not whole.
 */
export async function backupSqlite(dataDir: string, file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} is there already, and stays as it is`)
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
    throw error
  } finally {
    source.close()
  }
}

/** The file of the database in a data folder. */
export const databaseFile = 'facegate.db'

function checkIntegrity(file: string): void {
  const copy = new DatabaseSync(file)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
    const said = copy.prepare('PRAGMA integrity_check').get()?.['integrity_check']
    if (said !== 'ok') throw new Error(`the copy is not whole: ${String(said)}`)
  } finally {
    copy.close()
  }
}

/** On the disk first, then under its name. */
async function publishBackup(unfinished: string, file: string): Promise<void> {
  await chmod(unfinished, 0o600)
  await using handle = await open(unfinished, 'r+')
  await handle.sync()
  await rename(unfinished, file)
  await using folder = await open(path.dirname(file), 'r')
  await folder.sync()
}
