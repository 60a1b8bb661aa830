import type { AccountMove } from '../../store/account-move/move-record.ts'
import type { Store } from '../../store/database.ts'
import { createAccount, listAccounts } from '../../store/tenancy/projects.ts'
import { changeDatabase } from '../audit/audited-change.ts'
import { type CommandValues, print, printRows } from '../command.ts'
import { withStore } from '../with-store.ts'

export async function create({ name, json }: CommandValues<'name'>): Promise<void> {
  const accountId = await changeDatabase('account.create', async ({ db, nowMs }) => {
    const result = await createAccount(db, name, new Date(nowMs))
    return { result, accountId: result, target: result, detail: { name } }
  })
  print({ accountId, name }, json, () => `account ${accountId}`)
}

export async function list({ json }: { readonly json: boolean }): Promise<void> {
  const { accounts, moves } = await withStore(async (store) => ({
    accounts: await listAccounts(store.db),
    moves: store.isShared ? await readMoves(store) : [],
  }))
  const rows = accounts.map((account) => {
    const open = moves.find((move) => isOpen(move) && move.accountId === account.accountId)
    return { ...account, movedTo: open?.otherDatabase ?? null, state: stateOf(open) }
  })
  printRows(rows, json, {
    id: 'accountId',
    name: 'name',
    created: 'createdAtUtc',
    state: ({ state, movedTo }) => (movedTo === null ? state : `${state} ${movedTo}`),
  })
}

/** SQLite has no moves, so that their modules are loaded only for PostgreSQL. */
async function readMoves(store: Store): Promise<readonly AccountMove[]> {
  const { listMoves } = await import('../../store/account-move/move-record.ts')
  const { runnerOf } = await import('../../store/account-move/frozen-account.ts')
  return listMoves.all(runnerOf(store.db), {})
}

/** @throws Error if the database contains the frozen copy of an account, which no command can change. */
export async function requireNoFrozenAccount(store: Store): Promise<void> {
  const moves = store.isShared ? await readMoves(store) : []
  const frozen = moves.find(isOpen)
  if (frozen)
    throw new Error(
      `the account ${frozen.accountId} is frozen by its move to ${frozen.otherDatabase}: complete the move ` +
        'or cancel it (facegate account move), or remove the moved copy (facegate account remove)',
    )
}

/** Whether the database still contains the frozen copy of a moved account. */
function isOpen({ direction, removedAtUtc }: AccountMove): boolean {
  return direction === 'out' && removedAtUtc === null
}

function stateOf(open: AccountMove | undefined): string {
  if (!open) return 'active'
  return open.completedAtUtc === null ? 'being moved to' : 'moved to'
}
