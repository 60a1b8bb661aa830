import { topUp } from '../../billing/ledger.ts'
import { findBalance, findAccountBalances } from '../../store/billing/balances.ts'
import { walletLedger } from '../../store/tenancy/projects.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseOptions, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { requireAccountId, withStore } from '../with-store.ts'
import { parseAmountOption, joinAmountOption } from './amount-option.ts'

export const wallet: CliCommand = {
  name: 'wallet',
  summary: 'add money to the wallet of the account, show all balances',
  usage: `facegate wallet top-up --amount <micros> [--json]
facegate wallet show [--json]

  Amounts are whole millionths of the account's currency.`,
  run: subcommands({ 'top-up': addFunds, show }),
}

async function addFunds(args: readonly string[]): Promise<void> {
  const { amount, json } = parseOptions(joinAmountOption(args), { amount: text })
  const amountMicros = parseAmountOption(amount)
  if (amountMicros < 0n) throw new UsageError('--amount must be above 0')
  const { balanceMicros } = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    await store.write((tx) => topUp(tx, accountId, amountMicros, Date.now()))
    return findBalance(store.db, walletLedger(accountId))
  })
  print({ balanceMicros }, json, () => `wallet: ${balanceMicros} micros`)
}

async function show(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const balances = await withStore(async (store) =>
    findAccountBalances(store.db, await requireAccountId(store)),
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
