import { microsMax, type Micros } from '../lib/money.ts'
import { budgetLedger, walletLedger } from '../store/tenancy/projects.ts'
import type { TransferRow } from '../store/schema.ts'
import type { Tx } from '../store/tx.ts'
import { transferHash, transferHashInput } from './transfer-hash.ts'

/** Money does not move: the reason is for whoever asked, one line. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
}

type BudgetOwner = { readonly accountId: string; readonly projectId: string }

/** Outside → wallet. @throws LedgerError when the amount is not positive or the wallet overflows. */
export function topUp(
  tx: Tx,
  accountId: string,
  amountMicros: Micros,
  atMs: number,
): Promise<number> {
  const wallet = walletLedger(accountId)
  const route = { chain: wallet, fromLedger: 'external', toLedger: wallet }
  return transfer(tx, {
    kind: 'topUp',
    ...route,
    ...noRequest,
    projectId: null,
    amountMicros,
    atMs,
  })
}

/**
 * Wallet → budget; a negative amount goes back.
 *
 * @throws LedgerError when the source does not hold as much that is free, or the amount is 0.
 */
export async function allocate(
  tx: Tx,
  owner: BudgetOwner,
  amountMicros: Micros,
  atMs: number,
): Promise<number> {
  const wallet = walletLedger(owner.accountId)
  const budget = budgetLedger(owner.projectId)
  const row = {
    ...noRequest,
    kind: 'allocate',
    chain: wallet,
    projectId: owner.projectId,
    atMs,
  } as const
  return amountMicros < 0n
    ? await transfer(tx, {
        ...row,
        fromLedger: budget,
        toLedger: wallet,
        amountMicros: -amountMicros,
      })
    : await transfer(tx, { ...row, fromLedger: wallet, toLedger: budget, amountMicros })
}

const noRequest = { requestId: null, windowStartMs: null }

/**
 * Sets the price of a call aside, by one conditional update: whatever runs beside it, a budget never
 * goes below zero.
 *
 * @returns whether the free budget covers it.
 */
export async function reserve(tx: Tx, projectId: string, amountMicros: Micros): Promise<boolean> {
  if (amountMicros === 0n) return true
  return tx.ledger.reserve({ ledger: budgetLedger(projectId), amountMicros })
}

/** Frees what was set aside. */
export async function release(tx: Tx, projectId: string, amountMicros: Micros): Promise<void> {
  if (amountMicros === 0n) return
  const ledger = budgetLedger(projectId)
  if (!(await tx.ledger.unreserve({ ledger, amountMicros })))
    throw new Error(`${ledger} is missing`)
}

export type Charge = {
  readonly projectId: string
  /** In lower case. */
  readonly requestId: string
  readonly windowStartMs: number
  readonly action: string
  readonly amountMicros: Micros
  readonly atMs: number
}

/** Budget → revenue of the action. The reservation must be released before, in the same job. */
export function charge(tx: Tx, paid: Charge): Promise<number> {
  return transfer(tx, transferOf(paid))
}

/** What a charge is hashed as, but for its number, for whoever adds it to its chain elsewhere. */
export function chargeHashInput(paid: Charge) {
  return transferHashInput(transferOf(paid))
}

function transferOf({ action, ...paid }: Charge) {
  const budget = budgetLedger(paid.projectId)
  const route = { chain: budget, fromLedger: budget, toLedger: `revenue:${action}` }
  return { ...paid, ...route, kind: 'charge' } as const
}

/** Moves the stored balances, then adds the transfer to its hash chain. */
async function transfer(
  tx: Tx,
  row: Omit<TransferRow, 'transferId' | 'seq' | 'rowHash'>,
): Promise<number> {
  const { fromLedger, toLedger, amountMicros, chain } = row
  if (amountMicros <= 0n || amountMicros > microsMax)
    throw new LedgerError(`${amountMicros} micros cannot be moved`)
  if (
    hasStoredBalance(fromLedger) &&
    !(await tx.ledger.debit({ ledger: fromLedger, amountMicros }))
  )
    throw new LedgerError(`${fromLedger} does not hold ${amountMicros} micros that are free`)
  if (hasStoredBalance(toLedger) && !(await tx.ledger.credit({ ledger: toLedger, amountMicros })))
    throw new LedgerError(`${toLedger} is missing, or would hold more than ${microsMax} micros`)
  const head = await tx.ledger.findHead(chain)
  if (!head) throw new LedgerError(`there is no ${chain}`)
  const linked = { ...row, seq: head.headSeq + 1 }
  const rowHash = transferHash(head.headHash, linked)
  await tx.ledger.setHead({ ledger: chain, headSeq: linked.seq, headHash: rowHash })
  return tx.ledger.append({ ...linked, rowHash })
}

/** Only wallets and budgets store a balance; that of the others is the sum of their postings. */
function hasStoredBalance(ledger: string): boolean {
  return ledger.startsWith('wallet:') || ledger.startsWith('budget:')
}
