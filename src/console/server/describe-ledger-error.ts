import type { LedgerError } from '../../billing/ledger.ts'
import { currency, formatUnits, microsMax } from '../../lib/money.ts'

/** Returns the message of an impossible transfer with amounts in the currency, and the remedy. */
export function describeLedgerError({ problem }: LedgerError): string {
  const { reason, ledger = '', amountMicros } = problem
  const isWallet = ledger.startsWith('wallet:')
  const amount = `${formatUnits(amountMicros)} ${currency}`
  const name = isWallet ? 'wallet' : 'budget'
  const shortage = isWallet
    ? `The wallet has less than ${amount}. Top up the wallet, or enter a smaller amount.`
    : `The budget has less than ${amount} that is not reserved for running calls. Enter a smaller amount.`
  const messages: Readonly<Record<typeof reason, string>> = {
    amount: `The amount must be more than 0 and at most ${formatUnits(microsMax)} ${currency}.`,
    shortage,
    overflow: `The ${name} would exceed ${formatUnits(microsMax)} ${currency}. Enter a smaller amount.`,
    noLedger: `The ${name} no longer exists. Reload the page.`,
  }
  return messages[reason]
}
