import { requireAccountScope } from '../../lib/account-context.ts'
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
import type { PostgresQuery } from './connection/pool.ts'
import { prepare, type QueryRunner } from './connection/statement.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

const admitStatement = prepare<AdmitStatementRow>(
  `select * from "admitCall"(:scope, :keyId, :action, :requestId, :permissions, :nowMs, :nowUtc,
     :touchedBeforeUtc, :steadyUs, :sustainedPerS, :burst, :defaultMicros, :units, :fingerprint,
     :token, :deadlineMs)`,
)

/**
 * Admits a call with one statement.
 *
 * @returns undefined if the call was not admitted, or the connection was lost and the result is
 *   unknown. The caller then searches for an attempt with the same token.
 */
export async function admitInOneStatement(
  runBatched: RunBatched,
  { projectId, ...input }: AdmitStatementInput,
): Promise<AdmitStatementRow | undefined> {
  const on = { run: (query: PostgresQuery) => runBatched(`admit ${projectId}`, query) }
  try {
    return await admitStatement.first(on, { ...input, scope: requireAccountScope() })
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

const settleStatement = prepare<{ readonly transferId: number }>(
  `select * from "settleCall"(:scope, :projectId, :requestId, :token, :code, :answer, :scrubbed,
     :subjectIds, :reservedMicros, :amountMicros, :meteredMicros, :action, :windowStartMs, :nowMs, :linkBefore,
     :linkAfter, :scoreKinds, :scoreBins, :scoreMatches, :atMs, :keyId, :loggedRequestId,
     :loggedAction, :latencyMs, :bucket)`,
)

/** Completes a call with the job's last statement. If it is also the first, it runs on its own. */
export async function settleInOneStatement(
  transaction: PostgresTransaction,
  runBatched: RunBatched,
  { scores, row, link, ...settlement }: SettleStatementInput,
): Promise<SettleStatementResult | undefined> {
  const parameters = {
    ...settlement,
    scope: requireAccountScope(),
    linkBefore: link.before,
    linkAfter: link.after,
    scoreKinds: scores.map(({ kind }) => kind),
    scoreBins: scores.map(({ value }) => scoreBinOf(value)),
    scoreMatches: scores.map(({ isMatched }) => (isMatched ? 1 : 0)),
    atMs: row.atMs,
    keyId: row.keyId,
    loggedRequestId: row.requestId,
    loggedAction: row.action,
    latencyMs: row.latencyMs,
    bucket: latencyBucketOf(row.latencyMs) + 1,
  }
  const batched: QueryRunner = {
    run: (query) => runBatched(`settle ${settlement.projectId}`, query),
  }
  const on = transaction.hasBegun() ? transaction : batched
  const settled = await settleStatement.first(on, parameters)
  return settled && { transferId: settled.transferId === 0 ? null : settled.transferId }
}
