import { requireAccountScope } from '../../lib/account-context.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { scoreBinOf } from '../gate/hourly-counts.ts'
import type {
  AdmitStatementRow,
  AdmitStatementInput,
  SettleStatementInput,
  SettleStatementResult,
} from '../gate/statements.ts'
import { listQuery, listStatement, hexText, type RunBatched } from './connection/batcher.ts'
import { isRetryable, ConnectionLostError } from './connection/fault.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

/** The calls of a list belong to one project. */
const admitStatement = listStatement<AdmitStatementRow>('select * from "admitCalls"($1::json)')

/**
 * Admits a call with one statement.
 *
 * @returns undefined if the call was not admitted, or the connection was lost and the result is
 *   unknown. The caller then searches for an attempt with the same token.
 */
export async function admitInOneStatement(
  runBatched: RunBatched,
  { projectId, ...call }: AdmitStatementInput,
): Promise<AdmitStatementRow | undefined> {
  const input = {
    ...call,
    scope: requireAccountScope(),
    defaultMicros: String(call.defaultMicros),
    fingerprint: hexText(call.fingerprint),
  }
  try {
    return await runBatched(`admit ${projectId}`, admitStatement, input)
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

/** The calls of a list belong to one project. */
const settleStatement = listStatement<{ readonly transferId: number }>(
  'select * from "settleCalls"($1::json)',
)

/** Completes a call with the job's last statement. If it is also the first, it runs on its own. */
export async function settleInOneStatement(
  transaction: PostgresTransaction,
  runBatched: RunBatched,
  { scores, row, link, ...settlement }: SettleStatementInput,
): Promise<SettleStatementResult | undefined> {
  const input = {
    ...settlement,
    scope: requireAccountScope(),
    answer: hexText(settlement.answer),
    scrubbed: settlement.scrubbed && hexText(settlement.scrubbed),
    reservedMicros: String(settlement.reservedMicros),
    amountMicros: String(settlement.amountMicros),
    meteredMicros: String(settlement.meteredMicros),
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
  const settled = transaction.hasBegun()
    ? settleStatement.readRows(await transaction.run(listQuery(settleStatement, [input])), 1)[0]
    : await runBatched(`settle ${settlement.projectId}`, settleStatement, input)
  return settled && { transferId: settled.transferId === 0 ? null : settled.transferId }
}
