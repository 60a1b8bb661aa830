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

/** The input of an admission or of a settlement. */
type CallInput = { readonly kind: 'admit' | 'settle' }

/** Settles and admits calls in one transaction. The calls of a list belong to one project. */
const callsStatement = listStatement<AdmitStatementRow & { readonly transferId: number | null }>(
  'select * from "runCalls"($1::json)',
  (elements) => {
    // The callers below are the only ones that add inputs to this statement.
    const inputs = elements as readonly CallInput[]
    const ofKind = (kind: CallInput['kind']) => inputs.filter((input) => input.kind === kind)
    return JSON.stringify({ settle: ofKind('settle'), admit: ofKind('admit') })
  },
)

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
    return await runBatched(`calls ${projectId}`, callsStatement, { kind: 'admit', ...input })
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

/** Settles a call in the transaction of its effect. */
const settleStatement = listStatement<{ readonly transferId: number | null }>(
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
    : await runBatched(`calls ${settlement.projectId}`, callsStatement, {
        kind: 'settle',
        ...input,
      })
  return settled && { transferId: settled.transferId === 0 ? null : settled.transferId }
}
