import { stat } from 'node:fs/promises'
import path from 'node:path'
import { backupSqlite } from '../../store/sqlite/backup-sqlite.ts'
import { createEntryHook } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { withStore } from '../with-store.ts'

/** Copies the SQLite database to a new file. */
export async function backUp({ to: file, json }: CommandValues<'to'>): Promise<void> {
  const { DATABASE_URL, DATA_DIR } = readSettings()
  if (DATABASE_URL !== '')
    throw new Error(
      'the database is PostgreSQL; back it up with the tools of PostgreSQL, ' +
        'see docs/operations/deployment.md',
    )
  // withStore reports a missing database and migrates one of an older version.
  await withStore(async (store) => {
    await backupSqlite(DATA_DIR, file)
    const entry = { auditAction: 'database.backup', target: path.basename(file) }
    await store.write(await createEntryHook(store, entry))
  })
  const { size } = await stat(file)
  print({ file, bytes: size }, json, () => `${file}, ${(size / 1e6).toFixed(1)} MB`)
}
