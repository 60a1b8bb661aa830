import type { LedgerError } from '../../billing/ledger.ts'
import { currency, formatUnits, microsMax } from '../../lib/money.ts'

/** Returns the message of an impossible transfer with amounts in the currency, and the remedy. */
export function describeLedgerError({ problem }: LedgerError): string {
  const { reason, ledger = '', amountMicros } = problem
  const isWallet = ledger.startsWith('wallet:')
  const amount = `${formatUnits(amountMicros)} ${currency}`
  switch (reason) {
    case 'amount':
      return `The amount must be more than 0 and at most ${formatUnits(microsMax)} ${currency}.`
    case 'shortage':
      return isWallet
        ? `The wallet has less than ${amount}. Top up the wallet, or enter a smaller amount.`
        : `The budget has less than ${amount} that is not reserved for running calls. Enter a smaller amount.`
    case 'overflow':
      return `The ${isWallet ? 'wallet' : 'budget'} would exceed ${formatUnits(microsMax)} ${currency}. Enter a smaller amount.`
    case 'noLedger':
      return `The ${isWallet ? 'wallet' : 'budget'} no longer exists. Reload the page.`
  }
}
