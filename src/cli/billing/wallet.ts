import { topUp } from '../../billing/ledger.ts'
import { formatAmount, type Micros } from '../../lib/money.ts'
import { findBalance, findAccountBalances } from '../../store/billing/balances.ts'
import { projectNames, walletLedger } from '../../store/tenancy/projects.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { type CommandValues, formatTable, print } from '../command.ts'
import { requireAccountId, withStore } from '../with-store.ts'

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
  print(
    { balanceMicros },
    json,
    () => `wallet: ${formatAmount(balanceMicros)} (${balanceMicros} micros)`,
  )
}

export async function show({ account, json }: CommandValues<never, 'account'>): Promise<void> {
  const { balances, names } = await withStore(async (store) => ({
    balances: await findAccountBalances(store.db, await requireAccountId(store, account)),
    names: await projectNames(store.db),
  }))
  const isWallet = ({ ledger }: { ledger: string }): boolean => ledger.startsWith('wallet:')
  const result = {
    balanceMicros: balances.find(isWallet)?.balanceMicros ?? 0n,
    budgets: balances
      .filter((balance) => !isWallet(balance))
      .map(({ ledger, ...amounts }) => {
        const projectId = ledger.slice('budget:'.length)
        return { projectId, projectName: names.get(projectId) ?? '', ...amounts }
      }),
  }
  print(result, json, () => {
    const rows = result.budgets.map(({ projectId, projectName, balanceMicros, reservedMicros }) => [
      `budget of ${projectName}`,
      projectId,
      formatAmount(balanceMicros),
      formatAmount(reservedMicros),
    ])
    const walletRow = ['wallet', '', formatAmount(result.balanceMicros), formatAmount(0n)]
    return formatTable(['ledger', 'project', 'balance', 'reserved'], [walletRow, ...rows])
  })
}
