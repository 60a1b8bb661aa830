import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { SettleStatementInput, SettleStatementResult } from '../../gate/statements.ts'
import { completeAttemptSql, insertCallSql, insertTransferSql } from '../../gate/call-statements.ts'
import type { NewCallRow } from '../../schema.ts'
import { budgetLedger } from '../../tenancy/projects.ts'
import { prepare } from '../connection.ts'
import type { HourlyCountStatements } from '../hourly-counts.ts'
import type { PendingCounts } from './pending-counts.ts'
import type { ProjectStates } from './project-states.ts'

/**
 * Completes a call. @returns undefined if its reservation has expired; then nothing was written.
 *
 * @throws Error if the settlement contradicts the ledger. The caller rolls its writes back.
 */
export type SettleInBatch = (settlement: SettleStatementInput) => SettleStatementResult | undefined

type SettleBatchOptions = {
  readonly states: ProjectStates
  readonly countCall: PendingCounts['add']
  readonly countScore: HourlyCountStatements['countScore']
}

/** Prepares the settlement of many calls in one transaction. */
export function createSettleBatch(
  connection: DatabaseSync,
  { states, countCall, countScore }: SettleBatchOptions,
): SettleInBatch {
  const complete = prepare(connection, completeAttemptSql)
  const insertTransfer = prepare<never>(connection, insertTransferSql)
  const insertCall = prepare(connection, insertCallSql)
  const insertSubject = prepare(
    connection,
    `insert into responseSubjects (subjectId, projectId, requestId)
     values (:subjectId, :projectId, :requestId)`,
  )
  /** @returns the id of the charge; null without one. */
  const charge = (settlement: SettleStatementInput): number | null => {
    const charged = chargeBudget(states, settlement)
    return charged && insertTransfer.insert(chargeRowOf(settlement, charged))
  }
  return (settlement) => {
    const { projectId, requestId, token, code, answer, scrubbed, nowMs } = settlement
    const isOwner = complete.run({ projectId, requestId, token, code, answer, scrubbed }) === 1
    if (!isOwner) return undefined
    for (const subjectId of new Set(settlement.subjectIds))
      insertSubject.run({ subjectId, projectId, requestId })
    const transferId = charge(settlement)
    for (const score of settlement.scores) countScore(score, { projectId, atMs: nowMs })
    const call = callRowOf(settlement, transferId)
    insertCall.run(call)
    countCall(call)
    return { transferId }
  }
}

/** The literals of this file have no spread objects: a property after one takes longer. */
function callRowOf(
  { row, projectId, code, amountMicros, meteredMicros }: SettleStatementInput,
  transferId: number | null,
): NewCallRow {
  const { atMs, keyId, requestId, action, latencyMs } = row
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
    detail: null,
  }
}

type ChainLink = { readonly headSeq: number; readonly headHash: Uint8Array }

/**
 * Releases the reservation, and charges the amount.
 *
 * @returns the link of the charge in the chain of the budget; null without a charge.
 */
function chargeBudget(states: ProjectStates, settlement: SettleStatementInput): ChainLink | null {
  const { projectId, reservedMicros, amountMicros, link } = settlement
  if (reservedMicros === 0n && amountMicros === 0n) return null
  const budget = states.budgetOf(projectId)
  const ledger = budgetLedger(projectId)
  if (!budget || budget.reservedMicros < reservedMicros || reservedMicros < amountMicros)
    throw new Error(`${ledger} does not exist or has no such reservation`)
  const isCharged = amountMicros > 0n
  const headSeq = isCharged ? budget.headSeq + 1 : budget.headSeq
  const headHash = isCharged
    ? linkHash(budget.headHash, `${link.before}${headSeq}${link.after}`)
    : budget.headHash
  states.setBudget(projectId, {
    balanceMicros: budget.balanceMicros - amountMicros,
    reservedMicros: budget.reservedMicros - reservedMicros,
    headSeq,
    headHash,
    lowAtMicros: budget.lowAtMicros,
    exhaustedAtMicros: budget.exhaustedAtMicros,
  })
  return isCharged ? { headSeq, headHash } : null
}

/** SHA-256 of the previous hash and the text of the row, see `billing/transfer-hash.ts`. */
export function linkHash(previousHash: Uint8Array, text: string): Uint8Array {
  return hash('sha256', Buffer.concat([previousHash, Buffer.from(text)]), 'buffer')
}

/** Returns the row of a charge with its place in the chain. */
export function chargeRowOf(
  { projectId, requestId, windowStartMs, action, amountMicros, nowMs }: SettleStatementInput,
  { headSeq: seq, headHash: rowHash }: ChainLink,
) {
  const ledger = budgetLedger(projectId)
  return {
    chain: ledger,
    seq,
    kind: 'charge' as const,
    fromLedger: ledger,
    toLedger: `revenue:${action}`,
    amountMicros,
    atMs: nowMs,
    projectId,
    requestId,
    windowStartMs,
    rowHash,
  }
}
