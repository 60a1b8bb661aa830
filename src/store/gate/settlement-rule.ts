import type { Micros } from '../../lib/money.ts'
import { decisionColumns, type DecisionColumns } from '../../lib/observability/call-decision.ts'
import { transferHash } from '../billing/transfer-hash.ts'
import type { NewCallRow, TransferRow } from '../schema.ts'
import { budgetLedger } from '../tenancy/projects.ts'
import type { BudgetState } from './admission-facts.ts'
import type { Amounts, SettlementInput } from './statements.ts'

/** What a settlement changes in the budget of the project. */
export type SettlementDecision = {
  /** The budget after the settlement; undefined: it does not change. */
  readonly budget: BudgetState | undefined
  /** The charge with its place in the hash chain of the budget; undefined: nothing is charged. */
  readonly charge: Charge | undefined
}

type Charge = Omit<TransferRow, 'transferId'>

const noChange: SettlementDecision = { budget: undefined, charge: undefined }

/**
 * The settlement rule: releases the reservation of a call and charges its amount, as the next link in
 * the hash chain of the budget. SQLite applies its decisions (`store/sqlite/calls`). The function
 * `settleCalls` of PostgreSQL follows the same rule; test/postgres/gate/settlement-rule.test.ts compares both.
 *
 * @throws Error if the settlement contradicts the ledger.
 */
export function decideSettlement(
  settlement: SettlementInput,
  budget: BudgetState | undefined,
): SettlementDecision {
  const { projectId, reservedMicros, amountMicros } = settlement
  if (reservedMicros === 0n && amountMicros === 0n) return noChange
  if (!budget || budget.reservedMicros < reservedMicros || reservedMicros < amountMicros)
    throw new Error(`${budgetLedger(projectId)} does not exist or has no such reservation`)
  const charge = amountMicros > 0n ? linkCharge(chargeOf(settlement), budget) : undefined
  return {
    charge,
    // Without a spread object: a property after one takes longer.
    budget: {
      balanceMicros: budget.balanceMicros - amountMicros,
      reservedMicros: budget.reservedMicros - reservedMicros,
      headSeq: charge?.seq ?? budget.headSeq,
      headHash: charge?.rowHash ?? budget.headHash,
      lowAtMicros: budget.lowAtMicros,
      exhaustedAtMicros: budget.exhaustedAtMicros,
    },
  }
}

type Terms = {
  readonly reservedMicros: Micros
  readonly isBilled: boolean
  /** The price when the given number of images failed. */
  readonly priceMicros: (failedCount: number) => Micros
}

type PricedResponse = {
  readonly response: {
    readonly ok: boolean
    readonly data: { readonly results: readonly { readonly ok: boolean }[] } | null
  }
  /** Images that are not charged although their result is successful. */
  readonly unbilledImages?: number
}

/** Returns the amounts of a response: a failed call and a failed image of a batch cost nothing. */
export function amountsOf(
  { isBilled, reservedMicros, priceMicros }: Terms,
  { response: { ok, data }, unbilledImages = 0 }: PricedResponse,
): Amounts {
  const failedCount = data?.results.filter((item) => !item.ok).length ?? 0
  const price = ok ? priceMicros(failedCount + unbilledImages) : 0n
  if (!isBilled) return { amountMicros: 0n, meteredMicros: price }
  if (price > reservedMicros)
    throw new RangeError('the price of the response is higher than its reservation')
  return { amountMicros: price, meteredMicros: 0n }
}

type ChargedFields = Pick<
  SettlementInput,
  'projectId' | 'requestId' | 'windowStartMs' | 'action' | 'amountMicros' | 'nowMs'
>

/** Returns the transfer of a charge without its place in the chain. */
export function chargeOf({
  projectId,
  requestId,
  windowStartMs,
  action,
  amountMicros,
  nowMs,
}: ChargedFields): Omit<Charge, 'seq' | 'rowHash'> {
  const ledger = budgetLedger(projectId)
  return {
    chain: ledger,
    kind: 'charge',
    fromLedger: ledger,
    toLedger: `revenue:${action}`,
    amountMicros,
    atMs: nowMs,
    projectId,
    requestId,
    windowStartMs,
  }
}

function linkCharge(
  charge: Omit<Charge, 'seq' | 'rowHash'>,
  { headSeq, headHash }: BudgetState,
): Charge {
  const row = { ...charge, seq: headSeq + 1 }
  return { ...row, rowHash: transferHash(headHash, row) }
}

/** Returns the log row of a settled call. @param transferId its charge; null without one. */
export function logRowOf(
  { row, projectId, code, amountMicros, meteredMicros, decision }: SettlementInput,
  transferId: number | null,
): NewCallRow & DecisionColumns {
  const { atMs, keyId, requestId, action, latencyMs, detail } = row
  return {
    atMs,
    keyId,
    projectId,
    requestId,
    action,
    code,
    latencyMs,
    costMicros: amountMicros,
    meteredMicros,
    isReplay: 0,
    transferId,
    detail,
    ...decisionColumns(decision),
  }
}
