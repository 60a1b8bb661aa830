import { setTimeout as sleep } from 'node:timers/promises'
import { auditSnapshot, type AuditCheck } from '../../billing/audit-ledger.ts'
import { createSubjectKeys, openKeyring } from '../../gallery/keys/keyring.ts'
import { readCurrentMasterKeys } from '../../gallery/keys/master-key-file.ts'
import { listWrappedKeys, requireUnwrappable } from '../../gallery/keys/open-keys.ts'
import { createDecryptStoredTemplate } from '../../gallery/keys/template-encryption.ts'
import { expireLeftover } from '../../gate/sweep.ts'
import { runAsAccount, runAsAllAccounts } from '../../lib/account-context.ts'
import { newId } from '../../lib/ids.ts'
import {
  findNewNames,
  requireAbsent,
  requireMovable,
} from '../../store/account-move/check-databases.ts'
import * as accountCopy from '../../store/account-move/copy-account.ts'
import * as frozen from '../../store/account-move/frozen-account.ts'
import * as moves from '../../store/account-move/move-record.ts'
import type { Store } from '../../store/database.ts'
import { selectOrderedTemplates } from '../../store/gallery/templates.ts'
import {
  databaseOnTransaction,
  type QueryRunner,
} from '../../store/postgres/connection/kysely-driver.ts'
import { postgresReadTx } from '../../store/postgres/tx.ts'
import { updateStatistics } from '../../store/sqlite-to-postgres/fill-target.ts'
import type { MigrationTarget } from '../../store/sqlite-to-postgres/target.ts'
import { auditedChange } from '../audit/audited-change.ts'

export type AccountMoveOptions = {
  /** The database that the account leaves, as commands open it. */
  readonly store: Store
  readonly source: MigrationTarget
  readonly target: MigrationTarget
  readonly accountId: string
  readonly masterKeyFile: string
  readonly nowMs: () => number
  readonly onWaiting: (runningCalls: number) => void
  readonly onProgress: (progress: accountCopy.AccountCopyProgress) => void
}

export type AccountMoveResult = Awaited<ReturnType<typeof moveAccount>>

/**
 * Moves an account to another database. One transaction of the target contains the whole copy, its
 * comparison and its audit: a process that is killed leaves nothing there, and the next run starts
 * again. From the first run on, calls and changes of the account return 503 in the source. A source that
 * was restored from a copy from before a move of the account to the target is frozen without a copy.
 *
 * @throws Error in one sentence when the move is impossible or the copy differs.
 */
export function moveAccount(options: AccountMoveOptions) {
  const { source, target, accountId } = options
  return source.read(async (lock) => {
    await moves.requireMoveLock(lock, accountId)
    const startMs = options.nowMs()
    const open = await source.read((on) => moves.findOpenMove.first(on, { accountId }))
    if (open && open.otherDatabase !== target.label)
      throw new Error(`the account is being moved to ${open.otherDatabase}, not to ${target.label}`)
    await target.migrate()
    const known = open ?? (await recordLostMove(options))
    const isArrived = known !== undefined && (await hasArrived(options, known.moveId))
    const move = isArrived ? known : await prepareMove(options, known)
    await freeze(options)
    /** undefined when an earlier run has copied the account. */
    const summary = isArrived ? undefined : await copyFrozen(options, move, startMs)
    const completedAtUtc = new Date(options.nowMs()).toISOString()
    if (move.completedAtUtc === null)
      await source.write((on) =>
        moves.completeMove.run(on, { moveId: move.moveId, atUtc: completedAtUtc }),
      )
    return { moveId: move.moveId, accountId, to: target.label, summary }
  })
}

/** Whether the target contains the account. It waits for a killed process that may still commit. */
function hasArrived(
  { target, accountId }: Pick<AccountMoveOptions, 'target' | 'accountId'>,
  moveId: string,
): Promise<boolean> {
  return target.write(async (on) => {
    await moves.waitForMoveLock.run(on, { accountId })
    return (await moves.findArrival.first(on, { moveId })) !== undefined
  })
}

/**
 * Records the move that this database lacks, if it was restored from a copy from before it: the target
 * contains the account since a move that is newer than all moves of the account that are recorded here.
 */
async function recordLostMove(options: AccountMoveOptions) {
  const { source, target, accountId } = options
  const arrival = await target.read((on) => moves.findNewestArrival.first(on, { accountId }))
  if (!arrival) return undefined
  const { moveId, startedAtUtc } = arrival
  const since = { accountId, startedAtUtc }
  const isCurrent = await source.read((on) => moves.findMoveSince.first(on, since))
  return isCurrent ? undefined : recordMove(options, { moveId, startedAtUtc })
}

/** Checks both databases. The first run then rejects the calls of the account. */
async function prepareMove(options: AccountMoveOptions, open: moves.AccountMove | undefined) {
  const { source, target, accountId, masterKeyFile, nowMs } = options
  await requireMovable(source, target)
  await requireAbsent(target, accountId)
  await target
    .read((on) => checkKeys(on, masterKeyFile))
    .catch((cause: unknown) => {
      throw new Error(
        `the servers of ${target.label} use another master key than ${masterKeyFile}; both databases ` +
          'need the same one',
        { cause },
      )
    })
  if (open) return open
  await runAsAccount(accountId, () =>
    source.read(async (on) => {
      requireSound(await auditSnapshot(databaseOnTransaction(on), nowMs()))
      await checkKeys(on, masterKeyFile)
    }),
  )
  return recordMove(options, { moveId: newId(), startedAtUtc: new Date(nowMs()).toISOString() })
}

/** Records a move in the source, and rejects the calls of the account there. */
function recordMove(
  { store, target, accountId }: AccountMoveOptions,
  started: Pick<moves.AccountMove, 'moveId' | 'startedAtUtc'>,
): Promise<moves.AccountMove> {
  return auditedChange(store, 'account.move', async ({ db }) => {
    const on = frozen.runnerOf(db)
    const move: moves.AccountMove = {
      ...started,
      direction: 'out',
      accountId,
      otherDatabase: target.label,
      completedAtUtc: null,
      removedAtUtc: null,
    }
    await moves.addMove.run(on, move)
    await frozen.rejectCalls(on, accountId)
    return { result: move, accountId, target: accountId, detail: { to: target.label } }
  })
}

const drainIntervalMs = 100

/** Waits for running calls of the account, and makes its writes fail in the source. */
async function freeze({ store, source, accountId, nowMs, onWaiting }: AccountMoveOptions) {
  for (;;) {
    const running = await source.read((on) => frozen.countRunningCalls(on, accountId))
    if (running === 0 && (await frozen.tryFreezeWrites(source, accountId))) break
    onWaiting(running)
    // Without a server, nothing else releases the calls of a killed one.
    const now = { nowMs: nowMs(), steadyUs: store.steadyClock() }
    await store.write((tx) => expireLeftover(tx, now, false))
    await sleep(drainIntervalMs)
  }
}

async function copyFrozen(options: AccountMoveOptions, move: moves.AccountMove, startMs: number) {
  const copied = await runAsAccount(options.accountId, () => copyVerified(options, move))
  /** How long calls of the account were rejected by this run. */
  const frozenMs = options.nowMs() - startMs
  return { ...copied, frozenMs }
}

function copyVerified(
  { source, target, accountId, masterKeyFile, nowMs, onProgress }: AccountMoveOptions,
  move: moves.AccountMove,
) {
  return source.read(async (from) => {
    const ids = await accountCopy.readAccountIds(from, accountId)
    await accountCopy.createLogMonths(from, target, ids)
    await accountCopy.copySweptTime(from, target)
    const offsets = await accountCopy.reserveIds(from, target, ids)
    const newNames = await runAsAllAccounts(() => findNewNames(from, target, accountId))
    const movedAtUtc = new Date(nowMs()).toISOString()
    return target.write(async (to) => {
      await moves.waitForMoveLock.run(to, { accountId })
      const changes = { ids, offsets, newNames, movedAtUtc, onProgress }
      const copy = { ...changes, source: from, target: to }
      const tables = await accountCopy.copyAccount(copy)
      await updateStatistics(to)
      await accountCopy.requireEqualRows(copy)
      const checks = requireSound(await auditSnapshot(databaseOnTransaction(to), nowMs()))
      const decryptedTemplates = await checkKeys(to, masterKeyFile)
      const arrival = { direction: 'in', otherDatabase: source.label } as const
      await moves.addMove.run(to, { ...move, ...arrival, completedAtUtc: movedAtUtc })
      /** Users whose names were taken in the target. */
      const renamedUsers = [...newNames.values()]
      return { tables, renamedUsers, decryptedTemplates, checks }
    })
  })
}

/** @throws Error if the ledger of the account violates a rule. */
function requireSound(checks: readonly AuditCheck[]): readonly AuditCheck[] {
  const broken = checks.filter(({ ok }) => !ok)
  if (broken.length > 0)
    throw new Error(
      `the ledger of the account violates ${broken.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`,
    )
  return checks
}

/**
 * Ends an uncompleted move: calls of the account are processed again in the source.
 *
 * @throws Error if there is none, or if the target already contains the account.
 */
export function cancelAccountMove(
  options: Omit<AccountMoveOptions, 'masterKeyFile' | 'onWaiting' | 'onProgress'>,
): Promise<void> {
  const { store, source, target, accountId } = options
  return source.read(async (lock) => {
    await moves.requireMoveLock(lock, accountId)
    const open = await source.read((on) => moves.findOpenMove.first(on, { accountId }))
    if (!open) throw new Error(`the account ${accountId} is not being moved`)
    if (open.otherDatabase !== target.label)
      throw new Error(`the account is being moved to ${open.otherDatabase}, not to ${target.label}`)
    if (await hasArrived(options, open.moveId))
      throw new Error(`${target.label} already contains the account; the move cannot be cancelled`)
    await auditedChange(store, 'account.cancelMove', async ({ db }) => {
      const on = frozen.runnerOf(db)
      await frozen.unfreeze(on, accountId)
      await moves.cancelMove.run(on, { moveId: open.moveId })
      return { result: undefined, accountId, target: accountId, detail: { to: target.label } }
    })
  })
}

const templatesMax = 200

/**
 * Unwraps every key that is visible to a transaction, and decrypts some of the templates.
 *
 * @returns the number of decrypted templates.
 * @throws Error if the file does not contain a master key, or no template can be decrypted.
 */
async function checkKeys(on: QueryRunner, masterKeyFile: string): Promise<number> {
  const tx = postgresReadTx(on)
  const keys = await listWrappedKeys(tx)
  readCurrentMasterKeys(masterKeyFile, keys.currentId)
  if (keys.galleryKeys.length + keys.secrets.length === 0) return 0
  const keyring = openKeyring(masterKeyFile)
  requireUnwrappable(keyring, keys)
  const subjectKeys = createSubjectKeys(keyring, Date.now)
  const decrypt = createDecryptStoredTemplate(subjectKeys, { error: () => undefined })
  const rows = await tx.run(selectOrderedTemplates(tx).limit(templatesMax))
  let decrypted = 0
  for (const row of rows) {
    const template = await decrypt(tx, row)
    template?.vector.fill(0)
    if (template) decrypted++
  }
  if (rows.length > 0 && decrypted === 0)
    throw new Error(`${masterKeyFile} decrypts none of ${rows.length} templates`)
  return decrypted
}
