import { stat } from 'node:fs/promises'
import { readConfig } from '../../config.ts'
import { backupSqlite } from '../../store/sqlite/backup.ts'
import type { CliCommand } from '../command.ts'
import { parseOptions, requireOption, text } from '../options.ts'
import { print } from '../output.ts'
import { withStore } from '../with-store.ts'

export const backup: CliCommand = {
  name: 'backup',
  summary: 'copy the database while the server runs',
  usage: `facegate backup --to <new file> [--json]

  The copy is a consistent snapshot and is checked. It can be decrypted only with the
  current master key. Create a new backup after each rotation of the keys, and keep the
  master key elsewhere. After a restore, later deletions must be repeated: see
  facegate deletions export.
  This command is for SQLite. For PostgreSQL, use the tools of PostgreSQL: see
  docs/operations/deployment.md.`,
  run: async (args) => {
    const { to, json } = parseOptions(args, { to: text })
    const file = requireOption(to, 'the new file', '--to <file>')
    const { DATABASE_URL, DATA_DIR } = readConfig(process.env)
    if (DATABASE_URL !== '')
      throw new Error(
        'the database is PostgreSQL; back it up with the tools of PostgreSQL, ' +
          'see docs/operations/deployment.md',
      )
    // withStore reports a missing database and migrates one of an older version.
    await withStore(() => backupSqlite(DATA_DIR, file))
    const { size } = await stat(file)
    print({ file, bytes: size }, json, () => `${file}, ${(size / 1e6).toFixed(1)} MB`)
  },
}
