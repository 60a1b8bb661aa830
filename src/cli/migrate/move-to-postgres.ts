import { existsSync } from 'node:fs'
import path from 'node:path'
import { auditLedger, type AuditCheck } from '../../billing/audit-ledger.ts'
import { checkMasterKey } from '../../gallery/keys/open-keys.ts'
import { expireLeftover } from '../../gate/sweep.ts'
import { newId } from '../../lib/ids.ts'
import {
  compareTables,
  type ComparisonProgress,
  type TableComparison,
} from '../../store/sqlite-to-postgres/compare-tables.ts'
import { copyTables, type CopyProgress } from '../../store/sqlite-to-postgres/copy-tables.ts'
import {
  beginMigration,
  requireEmptyTarget,
  updateStatistics,
} from '../../store/sqlite-to-postgres/fill-target.ts'
import {
  completeProgress,
  findProgress,
  type MigrationProgress,
} from '../../store/sqlite-to-postgres/progress.ts'
import { openMigrationSource } from '../../store/sqlite-to-postgres/source.ts'
import { openMigrationTarget, type MigrationTarget } from '../../store/sqlite-to-postgres/target.ts'
import { lockDataDir, openSqliteStoreForMigration } from '../../store/sqlite/open-sqlite-store.ts'
import {
  migrationMarkerFile,
  readMigrationMarker,
  writeMigrationMarker,
  type MigrationMarker,
} from '../../store/sqlite/migration-marker.ts'
import { createEntryHook } from '../audit/audited-change.ts'

export type MoveOptions = {
  readonly dataDir: string
  readonly masterKeyFile: string
  readonly url: string
  readonly nowMs: () => number
  readonly onProgress: (progress: CopyProgress) => void
  readonly onCompared: (progress: ComparisonProgress) => void
  /** Receives the audit of the old ledger before the first row is copied. */
  readonly onAudited: (database: string, checks: readonly AuditCheck[]) => void
}

export type MoveResult = Awaited<ReturnType<typeof moveToPostgres>>

/**
 * Moves the database of a data folder to PostgreSQL. After an interruption at any point, the next
 * run continues. From the first row on, no server starts on the old database. A server starts on
 * the new database only after every row has been compared.
 *
 * @throws Error in one sentence when the move is impossible, the master key does not decrypt the data,
 *   or the databases differ at the end.
 */
export async function moveToPostgres(options: MoveOptions) {
  const { dataDir, url, nowMs } = options
  const nowUtc = (): string => new Date(nowMs()).toISOString()
  await using opened = new AsyncDisposableStack()
  opened.use(lockStoppedFolder(dataDir))
  const target = opened.use(await openMigrationTarget(url))
  const marker = readMigrationMarker(dataDir)
  const completed = findCompletedMove(options, target, marker, await target.read(findProgress))
  if (completed) return completed

  const { migrationId = newId(), startedAtUtc = nowUtc() } = marker ?? {}
  await target.read((on) => requireEmptyTarget(on, migrationId))
  const store = await openSqliteStoreForMigration(dataDir, {})
  opened.defer(() => store.close())
  await store.read((tx) => checkMasterKey(tx, options.masterKeyFile))
  const now = { nowMs: nowMs(), steadyUs: store.steadyClock() }
  const expired = await store.write((tx) => expireLeftover(tx, now, store.isFirstServer))
  options.onAudited(dataDir, await auditLedger(store.db, nowMs()))
  // The entry is moved with all others; a continued migration has it already.
  const entry = { auditAction: 'database.migrate', target: target.label }
  if (!marker) await store.write(await createEntryHook(store, entry))
  const source = opened.use(openMigrationSource(dataDir))

  const migration = { migrationId, to: target.label, startedAtUtc }
  writeMigrationMarker(dataDir, { ...migration, completedAtUtc: null })
  await target.write((on) => beginMigration(on, migration))
  await target.migrate()
  const copyStartMs = nowMs()
  const addedRows = await copyTables(source, target, options.onProgress)
  const compareStartMs = nowMs()
  await target.write(updateStatistics)
  const comparisons = await compareTables(source, target, options.onCompared)
  requireEqual(comparisons, dataDir)
  const checks = await auditLedger(target.db, nowMs())
  const compareMs = nowMs() - compareStartMs

  const completedAtUtc = nowUtc()
  await target.write((on) => completeProgress.run(on, { completedAtUtc }))
  writeMigrationMarker(dataDir, { ...migration, completedAtUtc })
  const copyMs = compareStartMs - copyStartMs
  const summary = {
    /** Calls that an earlier server left running. They are not charged. */
    expired,
    /** Rows copied by this run; an earlier run may have copied others. */
    addedRows,
    copyMs,
    compareMs,
    comparisons,
    /** The audit of the new ledger. It has the violations of the old one. */
    checks,
  }
  return { to: target.label, completedAtUtc, summary }
}

/** @throws Error when the folder has no database, or a server uses it. */
function lockStoppedFolder(dataDir: string): Disposable {
  if (!existsSync(path.join(dataDir, 'facegate.db')))
    throw new Error(`there is no database in ${dataDir}`)
  try {
    return lockDataDir(dataDir)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${reason}; stop it first, so that no data changes during the move`, { cause })
  }
}

/**
 * Returns the result of an earlier run that has moved this folder to this target.
 *
 * @throws Error when the folder was moved to another database: that one has changed since.
 */
function findCompletedMove(
  { dataDir }: MoveOptions,
  { label }: MigrationTarget,
  marker: MigrationMarker | undefined,
  progress: MigrationProgress | undefined,
) {
  if (!marker) return undefined
  const isSame = progress?.migrationId === marker.migrationId
  if (isSame && progress.completedAtUtc !== null) {
    const { completedAtUtc } = progress
    writeMigrationMarker(dataDir, { ...marker, completedAtUtc })
    return { to: marker.to, completedAtUtc, summary: undefined }
  }
  if (marker.completedAtUtc !== null)
    throw new Error(
      `the database of ${dataDir} was moved to ${marker.to} at ${marker.completedAtUtc}, and ${label} ` +
        `is not that database; to move it again, delete ${migrationMarkerFile(dataDir)}`,
    )
  return undefined
}

function requireEqual(comparisons: readonly TableComparison[], dataDir: string): void {
  const differences = comparisons.flatMap((comparison) => comparison.differences)
  if (differences.length > 0)
    throw new Error(
      `the two databases differ: ${differences.join('; ')}. Start again with an empty ` +
        `database, or delete ${migrationMarkerFile(dataDir)} to keep using ${dataDir}`,
    )
}
