import { existsSync } from 'node:fs'
import path from 'node:path'
import { auditLedger, type AuditCheck } from '../../billing/audit-ledger.ts'
import { expireLeftover } from '../../gate/sweep.ts'
import { newId } from '../../lib/ids.ts'
import type { Database } from '../../store/schema.ts'
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
import { lockDataDir } from '../../store/sqlite/lock-data-dir.ts'
import {
  migrationMarkerFile,
  readMigrationMarker,
  writeMigrationMarker,
  type MigrationMarker,
} from '../../store/sqlite/migration-marker.ts'
import { openSqliteStoreForMigration } from '../../store/sqlite/open-sqlite-store.ts'

export type MoveOptions = {
  readonly dataDir: string
  readonly url: string
  readonly nowMs: () => number
  readonly onProgress: (progress: CopyProgress) => void
  readonly onCompared: (compared: ComparisonProgress) => void
}

export type MoveResult = {
  /** Where to, without the password. */
  readonly to: string
  readonly completedAtUtc: string
  /** undefined: it was all done by an earlier run. */
  readonly summary?: {
    /** Calls that a server had left running; they are not billed. */
    readonly expired: number
    /** Rows of this run; an earlier one may have added others. */
    readonly addedRows: number
    readonly copyMs: number
    readonly compareMs: number
    readonly comparisons: readonly TableComparison[]
    readonly checks: readonly AuditCheck[]
  }
}

/**
 * Moves the database of a data folder into one of PostgreSQL. It can be cut off anywhere and be run
 * again: it goes on where it was. Only when everything was found to be there does any server start on
 * the new database; none starts on the old one from the beginning on.
 *
 * @throws Error in one sentence when it cannot be done, or what is there is not what is here.
 */
export async function moveToPostgres(moving: MoveOptions): Promise<MoveResult> {
  const { dataDir, url, nowMs } = moving
  const nowUtc = (): string => new Date(nowMs()).toISOString()
  await using opened = new AsyncDisposableStack()
  opened.use(lockStoppedFolder(dataDir))
  const target = opened.use(await openMigrationTarget(url))
  const begun = readMigrationMarker(dataDir)
  const before = findCompletedMove(moving, target, begun, await target.read(findProgress))
  if (before) return before

  const { migrationId = newId(), startedAtUtc = nowUtc() } = begun ?? {}
  await target.read((on) => requireEmptyTarget(on, migrationId))
  const store = await openSqliteStoreForMigration(dataDir, {})
  opened.defer(() => store.close())
  const moment = { nowMs: nowMs(), steadyUs: store.steadyClock() }
  const expired = await store.write((tx) => expireLeftover(tx, moment, store.isFirstServer))
  const source = opened.use(openMigrationSource(dataDir))
  await requireConsistentLedger(store.db, nowMs(), `the books of ${dataDir}`)

  const note = { migrationId, to: target.label, startedAtUtc }
  writeMigrationMarker(dataDir, { ...note, completedAtUtc: null })
  await target.write((on) => beginMigration(on, note))
  await target.migrate()
  const copyStartMs = nowMs()
  const addedRows = await copyTables(source, target, moving.onProgress)
  const compareStartMs = nowMs()
  await target.write(updateStatistics)
  const comparisons = await compareTables(source, target, moving.onCompared)
  requireEqual(comparisons, dataDir)
  const checks = await requireConsistentLedger(target.db, nowMs(), `the books of ${target.label}`)
  const compareMs = nowMs() - compareStartMs

  const completedAtUtc = nowUtc()
  await target.write((on) => completeProgress(on, completedAtUtc))
  writeMigrationMarker(dataDir, { ...note, completedAtUtc })
  const copyMs = compareStartMs - copyStartMs
  const done = { expired, addedRows, copyMs, compareMs, comparisons, checks }
  return { to: target.label, completedAtUtc, summary: done }
}

/** @throws Error when there is nothing to move, or a server is at work on it. */
function lockStoppedFolder(dataDir: string): Disposable {
  if (!existsSync(path.join(dataDir, 'facegate.db')))
    throw new Error(`there is no database in ${dataDir}`)
  try {
    return lockDataDir(dataDir)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${reason}; stop it first, so that nothing changes meanwhile`, { cause })
  }
}

/**
 * Whether there is nothing left to do.
 *
 * @throws Error when it was moved elsewhere before: that database has gone on since.
 */
function findCompletedMove(
  { dataDir }: MoveOptions,
  { label: says }: MigrationTarget,
  begun: MigrationMarker | undefined,
  mark: MigrationProgress | undefined,
): MoveResult | undefined {
  if (!begun) return undefined
  const isThis = mark?.migrationId === begun.migrationId
  if (isThis && mark.completedAtUtc !== null) {
    const { completedAtUtc } = mark
    writeMigrationMarker(dataDir, { ...begun, completedAtUtc })
    return { to: begun.to, completedAtUtc }
  }
  if (begun.completedAtUtc !== null)
    throw new Error(
      `the database of ${dataDir} was moved to ${begun.to} at ${begun.completedAtUtc}, and ${says} is ` +
        `not that database as it was left; to move it once more, delete ${migrationMarkerFile(dataDir)}`,
    )
  return undefined
}

async function requireConsistentLedger(
  db: Database,
  nowMs: number,
  what: string,
): Promise<readonly AuditCheck[]> {
  const checks = await auditLedger(db, nowMs)
  const broken = checks.filter(({ ok }) => !ok)
  if (broken.length > 0)
    throw new Error(
      `${what} are not whole: ${broken.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`,
    )
  return checks
}

function requireEqual(comparisons: readonly TableComparison[], dataDir: string): void {
  const differences = comparisons.flatMap((comparison) => comparison.differences)
  if (differences.length > 0)
    throw new Error(
      `what is there is not what is here: ${differences.join('; ')}. Start again with an empty ` +
        `database, or delete ${migrationMarkerFile(dataDir)} to go on with ${dataDir}`,
    )
}
