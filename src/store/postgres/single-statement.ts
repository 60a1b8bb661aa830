import { currentAccountId } from '../../lib/account-context.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { scoreBinOf } from '../gate/hourly-counts.ts'
import type {
  AdmitStatementRow,
  AdmitStatementInput,
  SettleStatementInput,
  SettleStatementResult,
} from '../gate/statements.ts'
import type { RunBatched } from './connection/batcher.ts'
import { isRetryable, ConnectionLostError } from './connection/fault.ts'
import { prepare } from './connection/statement.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

const admitStatement = prepare<AdmitStatementRow>(
  `select * from "claimAtOnce"(:account, :keyId, :action, :requestId, :permissions, :nowMs, :nowUtc,
     :touchedBeforeUtc, :steadyUs, :sustainedPerS, :burst, :defaultMicros, :units, :fingerprint,
     :token, :deadlineMs)`,
)

/**
 * Claims a call by one statement, if nothing stands against it.
 *
 * @returns undefined when it did nothing, or when the connection was cut and nobody knows: whoever
 *   asks then finds the attempt under the same token, if it was made.
 */
export async function admitInOneStatement(
  batches: RunBatched,
  { projectId, ...asked }: AdmitStatementInput,
): Promise<AdmitStatementRow | undefined> {
  const on = { run: (query: Parameters<RunBatched>[1]) => batches(`claim ${projectId}`, query) }
  try {
    return await admitStatement.first(on, { ...asked, account: currentAccountId() })
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

const settleStatement = prepare<{ readonly transferId: number }>(
  `select * from "settleAtOnce"(:account, :projectId, :requestId, :token, :code, :answer, :scrubbed,
     :subjectIds, :reservedMicros, :amountMicros, :action, :windowStartMs, :nowMs, :linkBefore,
     :linkAfter, :scoreKinds, :scoreBins, :scoreMatches, :atMs, :keyId, :askedRequestId,
     :askedAction, :latencyMs, :bucket)`,
)

/** The last statement of a call's end, and often its only one: then it needs no transaction around. */
export async function settleInOneStatement(
  running: PostgresTransaction,
  batches: RunBatched,
  { scores, row, link, ...settlement }: SettleStatementInput,
): Promise<SettleStatementResult | undefined> {
  const parameters = {
    ...settlement,
    account: currentAccountId(),
    linkBefore: link.before,
    linkAfter: link.after,
    scoreKinds: scores.map(({ kind }) => kind),
    scoreBins: scores.map(({ value }) => scoreBinOf(value)),
    scoreMatches: scores.map(({ isMatched }) => (isMatched ? 1 : 0)),
    atMs: row.atMs,
    keyId: row.keyId,
    askedRequestId: row.requestId,
    askedAction: row.action,
    latencyMs: row.latencyMs,
    bucket: latencyBucketOf(row.latencyMs) + 1,
  }
  const alone: Pick<PostgresTransaction, 'run'> = {
    run: (query) => batches(`settle ${settlement.projectId}`, query),
  }
  const settled = await settleStatement.first(running.hasBegun() ? running : alone, parameters)
  return settled && { transferId: settled.transferId === 0 ? null : settled.transferId }
}
