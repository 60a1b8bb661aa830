import { existsSync } from 'node:fs'
import path from 'node:path'
import { verifyBooks, type Check } from '../../billing/verify.ts'
import { expireLeft } from '../../gate/sweep.ts'
import { newId } from '../../lib/ids.ts'
import type { Database } from '../../store/database.ts'
import { compareAll, type Compared, type Comparison } from '../../store/move/compare.ts'
import { copyAll, type Progress } from '../../store/move/copy.ts'
import { beginFilling, requireFillable } from '../../store/move/fill.ts'
import { analyze } from '../../store/move/look.ts'
import { completeMark, findMark, type Mark } from '../../store/move/mark.ts'
import { openSource } from '../../store/move/source.ts'
import { openTarget, type Target } from '../../store/move/target.ts'
import { lockFolder } from '../../store/sqlite/lock.ts'
import {
  movedToFile,
  readMovedTo,
  writeMovedTo,
  type MovedTo,
} from '../../store/sqlite/moved-to.ts'
import { openMovingStore } from '../../store/sqlite/open.ts'

export type Moving = {
  readonly dataDir: string
  readonly url: string
  readonly nowMs: () => number
  readonly onProgress: (progress: Progress) => void
  readonly onCompared: (compared: Compared) => void
}

export type Moved = {
  /** Where to, without the password. */
  readonly to: string
  readonly completedAtUtc: string
  /** undefined: it was all done by an earlier run. */
  readonly done?: {
    /** Calls that a server had left running; they are not billed. */
    readonly expired: number
    /** Rows of this run; an earlier one may have added others. */
    readonly addedRows: number
    readonly copyMs: number
    readonly compareMs: number
    readonly comparisons: readonly Comparison[]
    readonly checks: readonly Check[]
  }
}

/**
 * Moves the database of a data folder into one of PostgreSQL. It can be cut off anywhere and be run
 * again: it goes on where it was. Only when everything was found to be there does any server start on
 * the new database; none starts on the old one from the beginning on.
 *
 * @throws Error in one sentence when it cannot be done, or what is there is not what is here.
 */
export async function move(moving: Moving): Promise<Moved> {
  const { dataDir, url, nowMs } = moving
  const nowUtc = (): string => new Date(nowMs()).toISOString()
  await using opened = new AsyncDisposableStack()
  opened.use(lockStopped(dataDir))
  const target = opened.use(await openTarget(url))
  const begun = readMovedTo(dataDir)
  const before = alreadyMoved(moving, target, begun, await target.read(findMark))
  if (before) return before

  const { migrationId = newId(), startedAtUtc = nowUtc() } = begun ?? {}
  await target.read((on) => requireFillable(on, migrationId))
  const store = await openMovingStore(dataDir, {})
  opened.defer(() => store.close())
  const moment = { nowMs: nowMs(), steadyUs: store.steadyClock() }
  const expired = await store.write((tx) => expireLeft(tx, moment, store.isFirst))
  const source = opened.use(openSource(dataDir))
  await requireWhole(store.db, nowMs(), `the books of ${dataDir}`)

  const note = { migrationId, to: target.says, startedAtUtc }
  writeMovedTo(dataDir, { ...note, completedAtUtc: null })
  await target.write((on) => beginFilling(on, note))
  await target.migrate()
  const copyStartMs = nowMs()
  const addedRows = await copyAll(source, target, moving.onProgress)
  const compareStartMs = nowMs()
  await target.write(analyze)
  const comparisons = await compareAll(source, target, moving.onCompared)
  requireSame(comparisons, dataDir)
  const checks = await requireWhole(target.db, nowMs(), `the books of ${target.says}`)
  const compareMs = nowMs() - compareStartMs

  const completedAtUtc = nowUtc()
  await target.write((on) => completeMark(on, completedAtUtc))
  writeMovedTo(dataDir, { ...note, completedAtUtc })
  const copyMs = compareStartMs - copyStartMs
  const done = { expired, addedRows, copyMs, compareMs, comparisons, checks }
  return { to: target.says, completedAtUtc, done }
}

/** @throws Error when there is nothing to move, or a server is at work on it. */
function lockStopped(dataDir: string): Disposable {
  if (!existsSync(path.join(dataDir, 'facegate.db')))
    throw new Error(`there is no database in ${dataDir}`)
  try {
    return lockFolder(dataDir)
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
function alreadyMoved(
  { dataDir }: Moving,
  { says }: Target,
  begun: MovedTo | undefined,
  mark: Mark | undefined,
): Moved | undefined {
  if (!begun) return undefined
  const isThis = mark?.migrationId === begun.migrationId
  if (isThis && mark.completedAtUtc !== null) {
    const { completedAtUtc } = mark
    writeMovedTo(dataDir, { ...begun, completedAtUtc })
    return { to: begun.to, completedAtUtc }
  }
  if (begun.completedAtUtc !== null)
    throw new Error(
      `the database of ${dataDir} was moved to ${begun.to} at ${begun.completedAtUtc}, and ${says} is ` +
        `not that database as it was left; to move it once more, delete ${movedToFile(dataDir)}`,
    )
  return undefined
}

async function requireWhole(db: Database, nowMs: number, what: string): Promise<readonly Check[]> {
  const checks = await verifyBooks(db, nowMs)
  const broken = checks.filter(({ ok }) => !ok)
  if (broken.length > 0)
    throw new Error(
      `${what} are not whole: ${broken.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`,
    )
  return checks
}

function requireSame(comparisons: readonly Comparison[], dataDir: string): void {
  const differences = comparisons.flatMap((comparison) => comparison.differences)
  if (differences.length > 0)
    throw new Error(
      `what is there is not what is here: ${differences.join('; ')}. Start again with an empty ` +
        `database, or delete ${movedToFile(dataDir)} to go on with ${dataDir}`,
    )
}
