import { masterKeyPath } from '../../start/store-location.ts'
import {
  endMove,
  findOpenMove,
  requireMoveLock,
  type AccountMove,
} from '../../store/account-move/move-record.ts'
import { removeAccount, removeRows, runnerOf } from '../../store/account-move/frozen-account.ts'
import type { Store } from '../../store/database.ts'
import { parseServerAddress } from '../../store/postgres/connection/server-address.ts'
import { openMigrationTarget } from '../../store/sqlite-to-postgres/target.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { type CommandValues, UsageError, formatRows, print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, withStore } from '../with-store.ts'
import {
  cancelAccountMove,
  moveAccount,
  type AccountMoveOptions,
  type AccountMoveResult,
} from './move-account.ts'
import { findActiveAccountId } from './open-moves.ts'
import type { AccountCopyProgress } from '../../store/account-move/copy-account.ts'
import { createStatusLine } from '../status-line.ts'

type MoveValues = CommandValues<'account' | 'to'> & { readonly cancel: boolean }

export async function move({ account, to, cancel, json }: MoveValues): Promise<void> {
  parseServerAddress(to) // Throws a precise error for an invalid URL.
  const masterKeyFile = masterKeyPath(readSettings())
  const reporter = createAccountReporter()
  await withSource(account, async (source) => {
    await using target = await openMigrationTarget(to)
    const options = { ...source, target, nowMs: Date.now }
    if (cancel) {
      await cancelAccountMove(options)
      const { accountId } = source
      print({ accountId, isCancelled: true }, json, () => `account ${accountId} is active again`)
      return
    }
    const result = await moveAccount({ ...options, masterKeyFile, ...reporter })
    reporter.end()
    print(result, json, () => describeMove(result))
  })
}

function describeMove({ accountId, to, summary }: AccountMoveResult): string {
  const next =
    `Route its keys to the servers of ${to} now: facegate key routes. Until then its calls return 503.\n` +
    `Then delete the frozen copy here: facegate account remove ${accountId}`
  if (!summary) return `account ${accountId} is in ${to}\n\n${next}`
  const { tables, frozenMs, renamedUsers, decryptedTemplates } = summary
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return [
    formatRows(tables, { table: 'table', rows: 'rows' }),
    `${rows} rows were copied to ${to} and are equal there. The nine rules of the ledger are met, and ` +
      `${decryptedTemplates} templates were decrypted as a sample. Calls were rejected for ${(frozenMs / 1000).toFixed(1)} s.`,
    ...(renamedUsers.length > 0
      ? [`Users with new names, because theirs were taken: ${renamedUsers.join(', ')}`]
      : []),
    next,
  ].join('\n\n')
}

/** Deletes the frozen copy of an account that was moved. */
export async function remove({ account, json }: CommandValues<'account'>): Promise<void> {
  const reporter = createAccountReporter()
  await withSource(account, async ({ store, source, accountId }) => {
    const removed = await source.read(async (lock) => {
      await requireMoveLock(lock, accountId)
      const open = await source.read((on) => findOpenMove.first(on, { accountId }))
      if (!open || open.completedAtUtc === null)
        throw new Error(`the account ${accountId} was not moved to another database`)
      const rows = await removeRows(source, accountId, reporter.onRemoved)
      return rows + (await removeLast(store, open))
    })
    reporter.end()
    const result = `${removed} rows of account ${accountId} were deleted`
    print({ accountId, removed }, json, () => result)
  })
}

/** The entry belongs to another account: the log of this one is in the other database. */
async function removeLast(store: Store, { moveId, accountId, otherDatabase }: AccountMove) {
  const otherId = await findActiveAccountId(store)
  const change = async (db: Store['db']): Promise<number> => {
    const on = runnerOf(db)
    await endMove.run(on, { moveId, atUtc: new Date().toISOString() })
    return removeAccount(on, accountId)
  }
  if (otherId === undefined) return store.runExclusive(({ db }) => change(db))
  return auditedChange(store, 'account.remove', async ({ db }) => ({
    result: await change(db),
    accountId: otherId,
    target: accountId,
    detail: { movedTo: otherDatabase },
  }))
}

/** Opens the database of the settings for a move. @throws UsageError on SQLite. */
async function withSource(
  account: string,
  work: (source: Pick<AccountMoveOptions, 'store' | 'source' | 'accountId'>) => Promise<void>,
): Promise<void> {
  const { DATABASE_URL } = readSettings()
  if (DATABASE_URL === '')
    throw new UsageError(
      'accounts are moved between PostgreSQL databases; migrate this one first: facegate migrate',
    )
  await withStore(async (store) => {
    await using source = await openMigrationTarget(DATABASE_URL)
    await work({ store, source, accountId: await requireAccountId(store, account) })
  })
}

/** Prints the progress of a move. */
function createAccountReporter() {
  const { report, end } = createStatusLine()
  return {
    onWaiting: (calls: number) => report(`waiting for ${calls} running calls`),
    onProgress: ({ step, table, rows }: AccountCopyProgress) =>
      report(`${step} ${rows} rows of ${table}`),
    onRemoved: ({ table, rows }: Pick<AccountCopyProgress, 'table' | 'rows'>) =>
      report(`deleted ${rows} rows of ${table}`),
    end,
  }
}
