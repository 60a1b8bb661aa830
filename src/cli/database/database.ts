import { statSync } from 'node:fs'
import { chmod, copyFile, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditCheck, auditLedger } from '../../billing/audit-ledger.ts'
import type { Config } from '../../config.ts'
import {
  type ExportDeletionsResult,
  exportDeletions,
} from '../../gallery/deletion/deletions-file.ts'
import {
  type ReplayDeletionsResult,
  replayDeletions,
  undoneMergesAdvice,
} from '../../gallery/deletion/replay-deletions.ts'
import { masterKeyLock } from '../../gallery/keys/keyring.ts'
import { addMasterKey, createMasterKeyFile } from '../../gallery/keys/master-key-file.ts'
import { checkMasterKey } from '../../gallery/keys/open-keys.ts'
import { type RotateKeysResult, rotateKeys } from '../../gallery/keys/rotate-keys.ts'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import type { Store } from '../../store/database.ts'
import { storeCurrentMasterKeyId } from '../../store/gallery/galleries.ts'
import { openStore } from '../../store/open-store.ts'
import { backupSqlite, checkDatabase, checkIntegrity } from '../../store/sqlite/backup-sqlite.ts'
import { databaseFile, existingDatabaseFiles } from '../../store/sqlite/database-files.ts'
import { lockDataDir } from '../../store/sqlite/open-sqlite-store.ts'
import { requireNoFrozenAccount } from '../account/open-moves.ts'
import { auditedFileChange, createEntryHook } from '../audit/audited-change.ts'
import { describeError } from '../../lib/observability/describe-error.ts'
import { type CommandValues, print, toJson } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { warnOfViolations } from '../warn-of-violations.ts'
import { hasDatabase, withStore } from '../with-store.ts'
import { quantity } from '../quantity.ts'

/** Restores a copy. @param deletions the file of deletion records, or `none`. */
export async function restore({ from, deletions, json }: CommandValues<'from' | 'deletions'>) {
  const config = readSettings()
  if (config.DATABASE_URL !== '')
    throw new Error(
      'the database is PostgreSQL; restore it with the tools of PostgreSQL, ' +
        'then run facegate deletions replay',
    )
  const file = deletions === 'none' ? undefined : deletions
  const { checks, ...result } = await runAsAllAccounts(() => restoreInto(config, from, file))
  const violations = warnOfViolations('the restored database', checks)
  const { records, inserted } = result
  const missing = `${inserted} of ${records} deletion records were missing in it`
  const text = `the copy is restored; ${missing}, ${describeDeletions(result)}`
  print({ ...result, violations }, json, () => text)
}

function describeDeletions({
  skipped,
  deletedAgain,
  undoneMerges,
  incompleteBytes,
}: Omit<ReplayDeletionsResult, 'records' | 'inserted'>): string {
  const parts = [`${quantity(deletedAgain, 'subject')} deleted again`]
  if (skipped > 0)
    parts.push(
      `${quantity(skipped, 'record')} skipped, of accounts that the database does not contain`,
    )
  if (undoneMerges.length > 0) parts.push(`${undoneMergesAdvice}: ${undoneMerges.join(', ')}`)
  if (incompleteBytes > 0)
    parts.push(
      `the last line of the file is incomplete (${incompleteBytes} bytes) and was ignored: check whether the file was copied completely`,
    )
  return parts.join('; ')
}

type RestoreResult = ReplayDeletionsResult & { readonly checks: readonly AuditCheck[] }

/**
 * Prepares the copy in a separate folder, then moves it to its place in one step. If that fails, the
 * folder is removed.
 */
async function restoreInto(config: Config, from: string, deletions: string | undefined) {
  const { DATA_DIR } = config
  const target = path.join(DATA_DIR, databaseFile)
  requireNoDatabase(target)
  requireSingleFile(from)
  await using opened = new AsyncDisposableStack()
  const workFolder = await openWorkFolder(DATA_DIR, opened)
  const copy = path.join(workFolder, databaseFile)
  await copyFile(from, copy)
  await chmod(copy, 0o600)
  const openCopy = async (): Promise<Store> => {
    checkIntegrity(copy)
    return openStore(workFolder)
  }
  const store = await openCopy().catch((cause: unknown) => {
    const reason = describeError(cause).replaceAll(copy, from)
    throw new Error(`${from} cannot be restored: ${reason}`, { cause })
  })
  let result: RestoreResult
  try {
    result = await prepareCopy(store, masterKeyPath(config), deletions)
    const { checks: _checks, ...detail } = result
    const entry = { auditAction: 'database.restore', target: path.basename(from), detail }
    await store.write(await createEntryHook(store, entry))
    if (!(await store.checkpoint())) throw new Error('another process reads the copy')
  } finally {
    await store.close()
  }
  using _lock = lockDataDir(DATA_DIR)
  requireNoDatabase(target)
  await rename(copy, target)
  await using folder = await open(DATA_DIR, 'r')
  await folder.sync()
  return result
}

/** SQLite would apply the write-ahead log of an old database to the restored one, and damage it. */
function requireNoDatabase(target: string): void {
  const files = existingDatabaseFiles(target)
  if (files.length > 0)
    throw new Error(
      `${files.join(' and ')} ${files.length > 1 ? 'exist' : 'exists'} already: move ` +
        `${files.length > 1 ? 'them' : 'it'} away first, all files of one database together`,
    )
}

/** @throws Error if the copy does not exist, or may lack the writes in a log beside it. */
function requireSingleFile(from: string): void {
  const copy = statSync(from, { throwIfNoEntry: false })
  if (!copy) throw new Error(`there is no copy ${from}`)
  if (!copy.isFile())
    throw new Error(`${from} is not a file, which a copy must be: write it to a file first`)
  if (copy.size === 0) throw new Error(`${from} is empty; name an intact copy`)
  const beside = existingDatabaseFiles(from).filter((file) => file !== from)
  if (beside.length > 0)
    throw new Error(
      `${beside.join(' and ')} beside the copy may contain writes that it lacks: create the copy ` +
        'with facegate backup, which writes one file, or move what does not belong to it away',
    )
}

/**
 * Creates an empty folder that no other restore uses, for a copy on the same disk. It is removed at
 * the end, and with it the folders that this function created for DATA_DIR, if they are empty.
 */
async function openWorkFolder(dataDir: string, opened: AsyncDisposableStack): Promise<string> {
  const createdFolder = await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if (createdFolder !== undefined) opened.defer(() => removeEmptyFolders(dataDir, createdFolder))
  const workFolder = path.join(dataDir, 'restoring')
  const lock = lockDataDir(workFolder)
  opened.defer(async () => {
    lock[Symbol.dispose]()
    await rm(workFolder, { recursive: true })
  })
  // A restore that was killed leaves its files.
  for (const file of existingDatabaseFiles(path.join(workFolder, databaseFile))) await rm(file)
  return workFolder
}

/** Removes a folder and the folders that contain it, up to `top`, if they are empty. */
async function removeEmptyFolders(folder: string, top: string): Promise<void> {
  await rmdir(folder).catch(() => undefined)
  if (path.resolve(folder) !== path.resolve(top))
    await removeEmptyFolders(path.dirname(path.resolve(folder)), top)
}

/** @throws Error when this master key does not decrypt the copy. */
async function prepareCopy(store: Store, masterKeyFile: string, deletions: string | undefined) {
  // If the copy is from before a rotation, the file does not contain the key that was current then.
  await store.write((tx) => storeCurrentMasterKeyId(tx, undefined))
  await store.read((tx) => checkMasterKey(tx, masterKeyFile))
  const noRecords = {
    records: 0,
    skipped: 0,
    inserted: 0,
    deletedAgain: 0,
    undoneMerges: [],
    incompleteBytes: 0,
  }
  const result = deletions === undefined ? noRecords : await replayDeletions(store, deletions)
  // At time 0 no call is overdue: the next start releases the calls that ran during the backup.
  return { ...result, checks: await auditLedger(store.db, 0) }
}

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

export async function exportTo({
  to: file,
  every,
  json,
}: CommandValues<'to'> & {
  /** Seconds between two exports; undefined: one export. */
  readonly every: number | undefined
}): Promise<void> {
  const report = (result: ExportDeletionsResult): void =>
    print(result, json, () => `records added: ${result.added}, in ${file}: ${result.records}`)
  await withStore(async (store) => {
    report(await exportDeletions(store, file))
    if (every !== undefined)
      await repeat(every * 1000, async () => {
        const result = await exportDeletions(store, file)
        if (result.added > 0) report(result)
      })
  })
}

/** Repeats the export until a signal. After a failed export, the next one exports the same records. */
async function repeat(intervalMs: number, work: () => Promise<void>): Promise<void> {
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  process.once('SIGINT', () => stopping.abort())
  while (!stopping.signal.aborted) {
    await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    await work().catch((error: unknown) => console.error(`facegate: ${toJson(String(error))}`))
  }
}

export async function replayFrom({ from: file, json }: CommandValues<'from'>): Promise<void> {
  const result = await withStore(async (store) => {
    const target = path.basename(file)
    const onFirstBatch = await createEntryHook(store, { auditAction: 'deletions.replay', target })
    return replayDeletions(store, file, onFirstBatch)
  })
  const { records, inserted } = result
  const missing = `${inserted} of them missing in the database`
  print(result, json, () => `records: ${records}, ${missing}; ${describeDeletions(result)}`)
}

export async function create({ to: file, json }: CommandValues<'to'>): Promise<void> {
  if (!createMasterKeyFile(file)) throw new Error(`${file} exists already and was not changed`)
  print({ file }, json, () => `${file} contains a new master key; keep a copy elsewhere`)
}

export async function rotate({ prepared, json }: CommandValues & { readonly prepared: boolean }) {
  const config = readSettings()
  if (config.DATABASE_URL === '' && hasDatabase(config)) requireIntactDatabase(config.DATA_DIR)
  const masterKeyFile = masterKeyPath(config)
  const result = await withStore(async (store) => {
    await requireNoFrozenAccount(store)
    const entry = { auditAction: 'masterKey.rotate', target: 'master key', detail: { prepared } }
    const onRotated = await createEntryHook(store, entry)
    return rotateKeys({ store, masterKeyFile, isPrepared: prepared, nowMs: Date.now, onRotated })
  })
  print(result, json, () => describeRotation(result))
}

/** A rotation makes the intact copies unreadable, which a damaged database is restored from. */
function requireIntactDatabase(dataDir: string): void {
  try {
    checkDatabase(dataDir)
  } catch (cause) {
    throw new Error(
      `${describeError(cause)}; the master key was not changed: restore an intact copy, which it decrypts`,
      { cause },
    )
  }
}

function describeRotation({ subjects, renewed, unreadable }: RotateKeysResult): string {
  const lines = [`the keys of ${quantity(subjects, 'subject')} are encrypted with a new master key`]
  if (renewed > 0) lines.push(`${renewed} of them have a new key, because data was removed`)
  if (unreadable > 0)
    lines.push(
      `${unreadable} changed or moved ciphertexts could not be decrypted and match nothing; ` +
        'enroll these faces again',
    )
  return lines.join('\n')
}

export async function add({ json }: { readonly json: boolean }): Promise<void> {
  const config = readSettings()
  const file = masterKeyPath(config)
  if (hasDatabase(config)) await withStore(({ read }) => read((tx) => checkMasterKey(tx, file)))
  const entry = { auditAction: 'masterKey.add', target: 'master key' }
  // The lock: two processes that replace the file at the same time would lose a key.
  const masterKeyId = await auditedFileChange(entry, () => addMasterKey(file), masterKeyLock)
  print({ masterKeyId, file }, json, () => `${file} has a new first key, ${masterKeyId}`)
}
