import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { backupSqlite } from '../../store/sqlite/backup.ts'
import { print, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

export const backup: CliCommand = {
  name: 'backup',
  summary: 'copy the database, beside a running server',
  usage: `facegate backup --to <new file> [--json]

  The copy is of one moment and is checked. It opens with the master key of its time
  and no other: make it after keys rotate, and keep the master key elsewhere. What is
  deleted later must be deleted again after a restore: see deletions export.
  This is for SQLite; PostgreSQL has tools of its own (docs/operations/deployment.md).`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { to: { type: 'string' }, json: { type: 'boolean', default: false } },
    })
    const { to: file } = values
    if (file === undefined) throw new UsageError('name the new file with --to')
    const { DATABASE_URL, DATA_DIR } = readConfig(process.env)
    if (DATABASE_URL !== '')
      throw new Error(
        'this database is PostgreSQL: copy it by its own tools, docs/operations/deployment.md',
      )
    // Opened once, so that a folder without a database, or of an older version, is no surprise.
    await withStore(() => backupSqlite(DATA_DIR, file))
    const { size } = await stat(file)
    print({ file, bytes: size }, values.json, () => `${file}, ${(size / 1e6).toFixed(1)} MB`)
  },
}
