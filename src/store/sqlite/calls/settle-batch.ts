import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { SettleStatementInput, SettleStatementResult } from '../../gate/statements.ts'
import type { NewCallRow } from '../../schema.ts'
import { budgetLedger } from '../../tenancy/projects.ts'
import { prepare } from '../connection.ts'
import type { HourlyCountStatements } from '../hourly-counts.ts'
import { attemptCompleteSql, insertCallSql, insertTransferSql } from './call-sql.ts'
import type { ProjectStates } from './project-states.ts'

/**
 * Completes a call. @returns undefined if its reservation has expired; then nothing was written.
 *
 * @throws Error if the settlement contradicts the ledger. The caller rolls its writes back.
 */
export type SettleInBatch = (settlement: SettleStatementInput) => SettleStatementResult | undefined

type SettleBatchOptions = {
  readonly states: ProjectStates
  readonly countCall: HourlyCountStatements['countCall']
  readonly countScore: HourlyCountStatements['countScore']
}

/** Prepares the settlement of many calls in one transaction. */
export function createSettleBatch(
  connection: DatabaseSync,
  { states, countCall, countScore }: SettleBatchOptions,
): SettleInBatch {
  const complete = prepare(connection, attemptCompleteSql)
  const insertTransfer = prepare<never>(connection, insertTransferSql)
  const insertCall = prepare(connection, insertCallSql)
  const insertSubject = prepare(
    connection,
    `insert into answerSubjects (subjectId, projectId, requestId)
     values (:subjectId, :projectId, :requestId)`,
  )
  /** @returns the id of the charge; null without one. */
  const charge = (settlement: SettleStatementInput): number | null => {
    const charged = chargeBudget(states, settlement)
    return charged && insertTransfer.insert(chargeRowOf(settlement, charged))
  }
  return (settlement) => {
    const { projectId, requestId, token, code, answer, scrubbed, row, nowMs } = settlement
    const isOwner = complete.run({ projectId, requestId, token, code, answer, scrubbed }) === 1
    if (!isOwner) return undefined
    for (const subjectId of new Set(settlement.subjectIds))
      insertSubject.run({ subjectId, projectId, requestId })
    const transferId = charge(settlement)
    for (const score of settlement.scores) countScore(score, { projectId, atMs: nowMs })
    const { amountMicros: costMicros, meteredMicros } = settlement
    const amounts = { costMicros, meteredMicros, isReplay: 0, transferId } as const
    const call: NewCallRow = { ...row, projectId, code, ...amounts }
    insertCall.run({ ...call, detail: null })
    countCall(call)
    return { transferId }
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
  const released = { ...budget, reservedMicros: budget.reservedMicros - reservedMicros }
  if (amountMicros === 0n) {
    states.setBudget(projectId, released)
    return null
  }
  const headSeq = budget.headSeq + 1
  const headHash = linkHash(budget.headHash, `${link.before}${headSeq}${link.after}`)
  const balanceMicros = budget.balanceMicros - amountMicros
  states.setBudget(projectId, { ...released, balanceMicros, headSeq, headHash })
  return { headSeq, headHash }
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
  const route = { chain: ledger, fromLedger: ledger, toLedger: `revenue:${action}` }
  const request = { projectId, requestId, windowStartMs }
  return { ...route, ...request, kind: 'charge', seq, rowHash, amountMicros, atMs: nowMs }
}
