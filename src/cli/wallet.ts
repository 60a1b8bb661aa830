import { parseArgs } from 'node:util'
import { topUp } from '../billing/ledger.ts'
import { balanceOf, balancesOf } from '../store/balances.ts'
import { walletOf } from '../store/projects.ts'
import { columns, print, theAccountId, verbs, withStore } from './admin.ts'
import { UsageError, type Command } from './command.ts'
import { amountOf, joinAmount } from './money.ts'

const json = { type: 'boolean', default: false } as const

export const wallet: Command = {
  name: 'wallet',
  summary: 'put money into the account, show where it is',
  usage: `facegate wallet top-up --amount <micros> [--json]
facegate wallet show [--json]

  Amounts are whole millionths of the account's currency.`,
  run: verbs({ 'top-up': pay, show }),
}

async function pay(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: joinAmount(args),
    options: { amount: { type: 'string' }, json },
  })
  const amountMicros = amountOf(values.amount)
  if (amountMicros < 0n) throw new UsageError('--amount must be above 0')
  const { balanceMicros } = await withStore(async (store) => {
    const accountId = await theAccountId(store)
    await store.write((tx) => topUp(tx, accountId, amountMicros, Date.now()))
    return balanceOf(store.db, walletOf(accountId))
  })
  print({ balanceMicros }, values.json, () => `the wallet holds ${balanceMicros} micros`)
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const { wallet, budgets } = await withStore(async (store) => {
    const all = await balancesOf(store.db, await theAccountId(store))
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
    return columns(['ledger', 'balance (micros)', 'reserved'], [first, ...rows])
  })
}
