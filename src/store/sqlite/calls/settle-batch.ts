import type { DatabaseSync } from 'node:sqlite'
import {
  completeAttemptSql,
  countScoreSql,
  insertCallSql,
  insertTransferSql,
} from '../../gate/call-statements.ts'
import { scoreRowOf } from '../../gate/hourly-counts.ts'
import { decideSettlement, logRowOf } from '../../gate/settlement-rule.ts'
import type { SettlementInput } from '../../gate/statements.ts'
import { prepare } from '../connection.ts'
import type { PendingCounts } from './pending-counts.ts'
import type { ProjectStates } from './project-states.ts'

/**
 * Completes a call. @returns false if its reservation has expired; then nothing was written.
 *
 * @throws Error if the settlement contradicts the ledger. The caller rolls its writes back.
 */
export type SettleInBatch = (settlement: SettlementInput) => boolean

type SettleBatchOptions = {
  readonly states: ProjectStates
  readonly countCall: PendingCounts['add']
}

/** Prepares the settlement of many calls in one transaction. */
export function createSettleBatch(
  connection: DatabaseSync,
  { states, countCall }: SettleBatchOptions,
): SettleInBatch {
  const complete = prepare(connection, completeAttemptSql)
  const insertTransfer = prepare<never>(connection, insertTransferSql)
  const insertCall = prepare(connection, insertCallSql)
  const countScore = prepare(connection, countScoreSql)
  const insertSubject = prepare(
    connection,
    `insert into responseSubjects (subjectId, projectId, requestId)
     values (:subjectId, :projectId, :requestId)`,
  )
  return (settlement) => {
    const { projectId, requestId, token, code, response, scrubbed, nowMs } = settlement
    const isOwner = complete.run({ projectId, requestId, token, code, response, scrubbed }) === 1
    if (!isOwner) return false
    for (const subjectId of new Set(settlement.subjectIds))
      insertSubject.run({ subjectId, projectId, requestId })
    const { budget, charge } = decideSettlement(settlement, states.budgetOf(projectId))
    if (budget) states.setBudget(projectId, budget)
    const transferId = charge ? insertTransfer.insert(charge) : null
    for (const score of settlement.scores)
      countScore.run(scoreRowOf(score, { projectId, atMs: nowMs }))
    const call = logRowOf(settlement, transferId)
    insertCall.run(call)
    countCall(call)
    return true
  }
}
