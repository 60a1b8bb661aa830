import type { AccountMove } from '../../store/account-move/move-record.ts'
import type { Store } from '../../store/database.ts'
import { listAccounts } from '../../store/tenancy/projects.ts'

/** Reads the moves whose frozen copies are still in this database. */
export async function readOpenMoves(store: Store): Promise<readonly AccountMove[]> {
  if (!store.isShared) return []
  // SQLite has no moves, so that their modules are loaded only for PostgreSQL.
  const { listOpenMoves } = await import('../../store/account-move/move-record.ts')
  const { runnerOf } = await import('../../store/account-move/frozen-account.ts')
  return listOpenMoves.all(runnerOf(store.db), {})
}

/** @throws Error if the database contains the frozen copy of an account, which no command can change. */
export async function requireNoFrozenAccount(store: Store): Promise<void> {
  const [frozen] = await readOpenMoves(store)
  if (frozen)
    throw new Error(
      `the account ${frozen.accountId} is frozen by its move to ${frozen.otherDatabase}: complete the move ` +
        'or cancel it (facegate account move), or remove the moved copy (facegate account remove)',
    )
}

/** Returns the oldest account whose audit log can be written: no move froze it. */
export async function findActiveAccountId(store: Store): Promise<string | undefined> {
  const frozen = new Set((await readOpenMoves(store)).map(({ accountId }) => accountId))
  const accounts = await listAccounts(store.db)
  return accounts.find(({ accountId }) => !frozen.has(accountId))?.accountId
}
