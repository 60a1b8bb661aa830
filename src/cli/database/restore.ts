import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { auditLedger } from '../../billing/audit-ledger.ts'
import { readConfig, type Config } from '../../config.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { checkMasterKey } from '../../gallery/keys/check-master-key.ts'
import {
  replayDeletions,
  type ReplayDeletionsResult,
} from '../../gallery/deletion/replay-deletions.ts'
import { masterKeyPath } from '../../start/open-gallery.ts'
import type { Store } from '../../store/database.ts'
import { databaseFile } from '../../store/sqlite/connection.ts'
import { lockDataDir } from '../../store/sqlite/lock-data-dir.ts'
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts'
import { print } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

export const restore: CliCommand = {
  name: 'restore',
  summary: 'put a copy of the database in place, without those who were deleted since',
  usage: `facegate restore --from <file> --deletions <file>|none [--json]

  DATA_DIR must have no database: move the old one away first. --deletions names what
  deletions export has written; whoever it names is deleted again, with the record of
  then, before the copy takes its place. none says that nobody was deleted since.
  The copy must be of the master key that MASTER_KEY_FILE holds.
  Keys that were revoked since the copy was made open again: revoke them again.`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string' },
        deletions: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    })
    const { from, deletions } = values
    if (from === undefined) throw new UsageError('name the copy with --from')
    if (deletions === undefined)
      throw new UsageError('name the deletion records with --deletions, or say none')
    const config = readConfig(process.env)
    if (config.DATABASE_URL !== '')
      throw new Error(
        'this database is PostgreSQL: restore it by its own tools, then facegate deletions replay',
      )
    const file = deletions === 'none' ? undefined : deletions
    const done = await runAsAllAccounts(() => restoreInto(config, from, file))
    print(done, values.json, () => text(done))
  },
}

function text({ records, inserted: entered, deletedAgain }: ReplayDeletionsResult): string {
  return `the copy is in place: of ${records} deletion records it lacked ${entered}, and ${deletedAgain} subjects were deleted again`
}

/** All is done in a folder beside, and the copy takes its place in one step at the end. */
async function restoreInto(
  config: Config,
  from: string,
  deletions: string | undefined,
): Promise<ReplayDeletionsResult> {
  const place = path.join(config.DATA_DIR, databaseFile)
  if (existsSync(place)) throw new Error(`${place} is there: move it away first`)
  using _lock = lockDataDir(config.DATA_DIR)
  const aside = path.join(config.DATA_DIR, 'restoring')
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { mode: 0o700 })
  await copyFile(from, path.join(aside, databaseFile))
  const store = await openSqliteStore(aside, {})
  let replayed: ReplayDeletionsResult
  try {
    replayed = await validateCopy(store, masterKeyPath(config), deletions)
    if (!(await store.checkpoint())) throw new Error('something else reads the copy')
  } finally {
    await store.close()
  }
  await rename(path.join(aside, databaseFile), place)
  await rm(aside, { recursive: true })
  return replayed
}

/** @throws Error when the copy does not open with this master key, or its books do not add up. */
async function validateCopy(
  store: Store,
  keyFile: string,
  deletions: string | undefined,
): Promise<ReplayDeletionsResult> {
  await checkMasterKey(store, keyFile)
  const none: ReplayDeletionsResult = { records: 0, inserted: 0, deletedAgain: 0 }
  const replayed = deletions === undefined ? none : await replayDeletions(store, deletions)
  // As of a time before all: what ran when the copy was made is given up by the next start.
  const broken = (await auditLedger(store.db, 0)).filter(({ ok }) => !ok)
  if (broken.length > 0)
    throw new Error(
      `the copy is not right: ${broken.map(({ name, detail }) => `${name} ${detail}`).join('; ')}`,
    )
  return replayed
}
