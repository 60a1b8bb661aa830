import type { AccountMove } from '../../store/account-move/move-record.ts'
import { createAccount, listAccounts } from '../../store/tenancy/projects.ts'
import { changeDatabase } from '../audit/audited-change.ts'
import { type CommandValues, print, printRows } from '../command.ts'
import { withStore } from '../with-store.ts'
import { readOpenMoves } from './open-moves.ts'

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
    moves: await readOpenMoves(store),
  }))
  const rows = accounts.map((account) => {
    const open = moves.find(({ accountId }) => accountId === account.accountId)
    return { ...account, movedTo: open?.otherDatabase ?? null, state: stateOf(open) }
  })
  printRows(rows, json, {
    id: 'accountId',
    name: 'name',
    created: 'createdAtUtc',
    state: ({ state, movedTo }) => (movedTo === null ? state : `${state} ${movedTo}`),
  })
}

function stateOf(open: AccountMove | undefined): string {
  if (!open) return 'active'
  return open.completedAtUtc === null ? 'being moved to' : 'moved to'
}
