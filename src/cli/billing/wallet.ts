import { parseArgs } from 'node:util'
import { topUp } from '../../billing/ledger.ts'
import { findBalance, findAccountBalances } from '../../store/billing/balances.ts'
import { walletLedger } from '../../store/tenancy/projects.ts'
import { formatTable, print, requireAccountId, subcommands, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { parseAmountOption, joinAmountOption } from './amount-option.ts'

const json = { type: 'boolean', default: false } as const

export const wallet: CliCommand = {
  name: 'wallet',
  summary: 'put money into the account, show where it is',
  usage: `facegate wallet top-up --amount <micros> [--json]
facegate wallet show [--json]

  Amounts are whole millionths of the account's currency.`,
  run: subcommands({ 'top-up': addFunds, show }),
}

async function addFunds(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: joinAmountOption(args),
    options: { amount: { type: 'string' }, json },
  })
  const amountMicros = parseAmountOption(values.amount)
  if (amountMicros < 0n) throw new UsageError('--amount must be above 0')
  const { balanceMicros } = await withStore(async (store) => {
    const accountId = await requireAccountId(store)
    await store.write((tx) => topUp(tx, accountId, amountMicros, Date.now()))
    return findBalance(store.db, walletLedger(accountId))
  })
  print({ balanceMicros }, values.json, () => `the wallet holds ${balanceMicros} micros`)
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const { wallet, budgets } = await withStore(async (store) => {
    const all = await findAccountBalances(store.db, await requireAccountId(store))
    const isWallet = ({ ledger }: { ledger: string }): boolean => ledger.startsWith('wallet:')
    return { wallet: all.find(isWallet), budgets: all.filter((row) => !isWallet(row)) }
  })
  const shown = {
    balanceMicros: wallet?.balanceMicros ?? 0n,
    budgets: budgets.map(({ ledger, ...held }) => ({ projectId: ledger.slice(7), ...held })),
  }
  print(shown, values.json, () => {
    const rows = shown.budgets.map((row) => [
      `budget of ${row.projectId}`,
      String(row.balanceMicros),
      String(row.reservedMicros),
    ])
    const first = ['wallet', String(shown.balanceMicros), '0']
    return formatTable(['ledger', 'balance (micros)', 'reserved'], [first, ...rows])
  })
}
