import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
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
import type { CliCommand } from '../command.ts'
import { parseOptions, requireOption, text } from '../options.ts'
import { print } from '../output.ts'

export const restore: CliCommand = {
  name: 'restore',
  summary: 'restore a copy of the database, and repeat the deletions since then',
  usage: `facegate restore --from <file> --deletions <file>|none [--json]

  DATA_DIR must contain no database: move the old one away first. --deletions names the
  file written by facegate deletions export. The subjects listed in it are deleted
  again, with their original deletion records, before the copy is put in place. none:
  no subject was deleted since.
  The copy must belong to the master key in MASTER_KEY_FILE.
  API keys revoked after the copy are valid again: revoke them again.`,
  run: async (args) => {
    const { from, deletions, json } = parseOptions(args, { from: text, deletions: text })
    const copy = requireOption(from, 'the copy', '--from <file>')
    const records = requireOption(
      deletions,
      'the file of deletion records',
      '--deletions <file>, or --deletions none',
    )
    const config = readConfig(process.env)
    if (config.DATABASE_URL !== '')
      throw new Error(
        'the database is PostgreSQL; restore it with the tools of PostgreSQL, ' +
          'then run facegate deletions replay',
      )
    const file = records === 'none' ? undefined : records
    const result = await runAsAllAccounts(() => restoreInto(config, copy, file))
    print(result, json, () => toText(result))
  },
}

function toText({ records, inserted, deletedAgain }: ReplayDeletionsResult): string {
  return (
    `the copy is restored; ${inserted} of ${records} deletion records were missing in it, ` +
    `${deletedAgain} subjects were deleted again`
  )
}

/** Prepares the copy in a separate folder, then moves it to its place in one step. */
async function restoreInto(
  config: Config,
  from: string,
  deletions: string | undefined,
): Promise<ReplayDeletionsResult> {
  const target = path.join(config.DATA_DIR, databaseFile)
  if (existsSync(target)) throw new Error(`${target} exists already: move it away first`)
  using _lock = lockDataDir(config.DATA_DIR)
  const workFolder = path.join(config.DATA_DIR, 'restoring')
  await rm(workFolder, { recursive: true, force: true })
  await mkdir(workFolder, { mode: 0o700 })
  await copyFile(from, path.join(workFolder, databaseFile))
  const store = await openSqliteStore(workFolder, {})
  let result: ReplayDeletionsResult
  try {
    result = await validateCopy(store, masterKeyPath(config), deletions)
    if (!(await store.checkpoint())) throw new Error('another process reads the copy')
  } finally {
    await store.close()
  }
  await rename(path.join(workFolder, databaseFile), target)
  await rm(workFolder, { recursive: true })
  return result
}

/** @throws Error when this master key does not decrypt the copy, or its ledger is inconsistent. */
async function validateCopy(
  store: Store,
  masterKeyFile: string,
  deletions: string | undefined,
): Promise<ReplayDeletionsResult> {
  await checkMasterKey(store, masterKeyFile)
  const noRecords: ReplayDeletionsResult = { records: 0, inserted: 0, deletedAgain: 0 }
  const result = deletions === undefined ? noRecords : await replayDeletions(store, deletions)
  // At time 0 no call is overdue: the next start releases the calls that ran during the backup.
  const broken = (await auditLedger(store.db, 0)).filter(({ ok }) => !ok)
  if (broken.length > 0)
    throw new Error(
      `the ledger of the copy is inconsistent: ${broken.map(({ name, detail }) => `${name} ${detail}`).join('; ')}`,
    )
  return result
}
