import { formatAmount, microsMax, type Micros } from '../lib/money.ts'
import { transferHash } from '../store/billing/transfer-hash.ts'
import { findTopUp } from '../store/billing/ledger-transfers.ts'
import { budgetLedger, isDeleted, walletLedger } from '../store/tenancy/projects.ts'
import type { TransferRow } from '../store/schema.ts'
import type { Tx } from '../store/database.ts'

/** Thrown when a transfer is not possible. The message is for users and contains the remedy. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
}

/** External → wallet. @throws LedgerError if the amount is not positive or the wallet overflows. */
export function topUp(tx: Tx, accountId: string, amountMicros: Micros, atMs: number) {
  return topUpWith(tx, { accountId, requestId: null }, amountMicros, atMs)
}

/**
 * External → wallet, once for the id of a request: a repetition returns the earlier transfer.
 *
 * @throws LedgerError as `topUp`, and if the earlier transfer has another amount.
 */
export async function topUpOnce(
  tx: Tx,
  request: { readonly accountId: string; readonly requestId: string },
  amountMicros: Micros,
  atMs: number,
): Promise<number> {
  const wallet = walletLedger(request.accountId)
  const earlier = await findTopUp(tx, wallet, request.requestId)
  if (!earlier) return topUpWith(tx, request, amountMicros, atMs)
  if (earlier.amountMicros === amountMicros) return earlier.transferId
  const amount = formatAmount(earlier.amountMicros)
  throw new LedgerError(`This request has already added ${amount}. Open a new one to add more.`)
}

function topUpWith(
  tx: Tx,
  request: { readonly accountId: string; readonly requestId: string | null },
  amountMicros: Micros,
  atMs: number,
): Promise<number> {
  const { accountId, requestId } = request
  const wallet = walletLedger(accountId)
  const row = { kind: 'topUp', chain: wallet, projectId: null, atMs, requestId } as const
  const route = { fromLedger: 'external', toLedger: wallet, amountMicros }
  return transfer(tx, { ...row, ...route, windowStartMs: null })
}

/**
 * Wallet → budget; a negative amount returns money to the wallet.
 *
 * @throws LedgerError if the source has not enough unreserved money, the amount is 0, or the project
 *   was deleted: nothing could return the money.
 */
export async function allocate(
  tx: Tx,
  { accountId, projectId }: { readonly accountId: string; readonly projectId: string },
  amountMicros: Micros,
  atMs: number,
): Promise<number> {
  const wallet = walletLedger(accountId)
  const budget = budgetLedger(projectId)
  if (await isDeleted(tx, projectId)) throw new LedgerError('The project was deleted.')
  const row = { ...noRequest, kind: 'allocate', chain: wallet, projectId, atMs } as const
  const route =
    amountMicros < 0n
      ? { fromLedger: budget, toLedger: wallet, amountMicros: -amountMicros }
      : { fromLedger: wallet, toLedger: budget, amountMicros }
  return transfer(tx, { ...row, ...route })
}

const noRequest = { requestId: null, windowStartMs: null }

/**
 * Reserves the price of a call with one conditional update, so that concurrent calls can never
 * overdraw a budget.
 *
 * @returns false if the unreserved budget is too small.
 */
export async function reserve(tx: Tx, projectId: string, amountMicros: Micros): Promise<boolean> {
  if (amountMicros === 0n) return true
  return tx.ledger.reserve({ ledger: budgetLedger(projectId), amountMicros })
}

/** Makes the event `budget.exhausted` due, because a call was refused although the budget is not 0. */
export async function reportShortage(tx: Tx, projectId: string, priceMicros: Micros) {
  await tx.ledger.reportShortage({ ledger: budgetLedger(projectId), amountMicros: priceMicros })
}

/** Releases a reservation. */
export async function release(tx: Tx, projectId: string, amountMicros: Micros): Promise<void> {
  if (amountMicros === 0n) return
  const ledger = budgetLedger(projectId)
  if (!(await tx.ledger.unreserve({ ledger, amountMicros })))
    throw new Error(`${ledger} does not exist or has no such reservation`)
}

/** Updates the stored balances and appends the transfer to its hash chain. */
async function transfer(tx: Tx, row: Omit<TransferRow, 'transferId' | 'seq' | 'rowHash'>) {
  const { fromLedger, toLedger, amountMicros, chain } = row
  if (amountMicros <= 0n || amountMicros > microsMax)
    throw new LedgerError(`The amount must be more than 0 and at most ${formatAmount(microsMax)}.`)
  if (
    hasStoredBalance(fromLedger) &&
    !(await tx.ledger.debit({ ledger: fromLedger, amountMicros }))
  )
    throw new LedgerError(describeShortage(fromLedger, formatAmount(amountMicros)))
  if (hasStoredBalance(toLedger) && !(await tx.ledger.credit({ ledger: toLedger, amountMicros })))
    throw new LedgerError(
      `The ${nameOf(toLedger)} would exceed ${formatAmount(microsMax)}. Enter a smaller amount.`,
    )
  const head = await tx.ledger.findHead(chain)
  if (!head) throw new LedgerError(`The ${nameOf(chain)} no longer exists.`)
  const linkedRow = { ...row, seq: head.headSeq + 1 }
  const rowHash = transferHash(head.headHash, linkedRow)
  await tx.ledger.setHead({ ledger: chain, headSeq: linkedRow.seq, headHash: rowHash })
  return tx.ledger.append({ ...linkedRow, rowHash })
}

function nameOf(ledger: string): string {
  return ledger.startsWith('wallet:') ? 'wallet' : 'budget'
}

function describeShortage(ledger: string, amount: string): string {
  return nameOf(ledger) === 'wallet'
    ? `The wallet has less than ${amount}. Top up the wallet, or enter a smaller amount.`
    : `The budget has less than ${amount} that is not reserved for running calls. Enter a smaller amount.`
}

/** Only wallets and budgets store a balance; other balances are computed from the postings. */
function hasStoredBalance(ledger: string): boolean {
  return ledger.startsWith('wallet:') || ledger.startsWith('budget:')
}
