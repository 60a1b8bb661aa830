import { topUp } from '../../billing/ledger.ts'
import type { Micros } from '../../lib/money.ts'
import { findBalance, findAccountBalances } from '../../store/billing/balances.ts'
import { walletLedger } from '../../store/tenancy/projects.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { formatTable, print } from '../output.ts'
import { requireAccountId, withStore } from '../with-store.ts'
import type { CommandValues } from '../command.ts'

export async function addFunds({
  amount,
  account,
  json,
}: CommandValues<never, 'account'> & { readonly amount: Micros }): Promise<void> {
  const { balanceMicros } = await withStore(async (store) => {
    const accountId = await requireAccountId(store, account)
    await auditedChange(store, 'money.topUp', async ({ tx, nowMs }) => {
      const result = await topUp(tx, accountId, amount, nowMs)
      return { result, accountId, target: accountId, detail: { amountMicros: String(amount) } }
    })
    return findBalance(store.db, walletLedger(accountId))
  })
  print({ balanceMicros }, json, () => `wallet: ${balanceMicros} micros`)
}

export async function show({ account, json }: CommandValues<never, 'account'>): Promise<void> {
  const balances = await withStore(async (store) =>
    findAccountBalances(store.db, await requireAccountId(store, account)),
  )
  const isWallet = ({ ledger }: { ledger: string }): boolean => ledger.startsWith('wallet:')
  const result = {
    balanceMicros: balances.find(isWallet)?.balanceMicros ?? 0n,
    budgets: balances
      .filter((balance) => !isWallet(balance))
      .map(({ ledger, ...budget }) => ({ projectId: ledger.slice('budget:'.length), ...budget })),
  }
  print(result, json, () => {
    const walletRow = ['wallet', String(result.balanceMicros), '0']
    const budgetRows = result.budgets.map((budget) => [
      `budget of ${budget.projectId}`,
      String(budget.balanceMicros),
      String(budget.reservedMicros),
    ])
    return formatTable(['ledger', 'balance (micros)', 'reserved'], [walletRow, ...budgetRows])
  })
}
