import { requireAccountScope } from '../../lib/account-context.ts'
import { describeBucket, type RateLimits } from '../../lib/limits/token-bucket.ts'
import { decisionColumns } from '../../lib/observability/call-decision.ts'
import { latencyBucketOf } from '../../lib/observability/latency-histogram.ts'
import { transferHashInput } from '../billing/transfer-hash.ts'
import { formatUtc } from '../../lib/clock.ts'
import { scoreBinOf } from '../gate/hourly-counts.ts'
import type { AdmissionInput, Now } from '../gate/admission-facts.ts'
import { deadlineOf, lastUseIntervalMs, type AdmittedTerms } from '../gate/admission-rule.ts'
import { chargeOf } from '../gate/settlement-rule.ts'
import type { SettlementInput } from '../gate/statements.ts'
import { listQuery, listStatement, hexText, type RunBatched } from './connection/batcher.ts'
import { isRetryable, ConnectionLostError } from './connection/fault.ts'
import type { PostgresTransaction } from './connection/transaction.ts'

/** What the function has decided about an admitted call. */
type AdmittedRow = RateLimits &
  Pick<AdmittedTerms, 'unitMicros' | 'reservedMicros' | 'isBilled'> & {
    readonly fullAtUs: number
  }

/** The calls of a list belong to one project. */
const admitStatement = listStatement<AdmittedRow>('select * from "admitCalls"($1::json)')

/**
 * Admits a new call with one statement. It makes the decision of `decideAdmission` in the database.
 *
 * @returns undefined if the call was not admitted, or the connection was lost and the result is
 *   unknown. The caller then searches for an attempt with the same token.
 */
export async function admitInOneStatement(
  runBatched: RunBatched,
  call: AdmissionInput,
): Promise<AdmittedTerms | undefined> {
  const { projectId, limits, consumedTokens: _, ...input } = call
  const { nowMs, fingerprint } = input
  const statementInput = {
    ...input,
    ...limits,
    scope: requireAccountScope(),
    nowUtc: formatUtc(nowMs),
    lastUsedBeforeUtc: formatUtc(nowMs - lastUseIntervalMs),
    unitMicros: String(input.unitMicros),
    fingerprint: hexText(fingerprint),
    deadlineMs: deadlineOf(call, input.attemptMsMax),
  }
  try {
    const row = await runBatched(`admit ${projectId}`, admitStatement, statementInput)
    return row && termsOf(row, call)
  } catch (error) {
    if (error instanceof ConnectionLostError || isRetryable(error, 'race')) return undefined
    throw error
  }
}

function termsOf(row: AdmittedRow, { nowMs, steadyUs }: Now): AdmittedTerms {
  const { fullAtUs, unitMicros, reservedMicros, isBilled } = row
  const tokens = describeBucket(row, { isAllowed: true, fullAtUs }, steadyUs)
  return { access: { tokens }, windowStartMs: nowMs, unitMicros, reservedMicros, isBilled }
}

/** The calls of a list belong to one project. A row means that its call was settled. */
const settleStatement = listStatement<object>('select * from "settleCalls"($1::json)')

/** Completes a call together with others of its project, in a separate transaction. */
export async function settleInOneStatement(
  runBatched: RunBatched,
  settlement: SettlementInput,
): Promise<boolean> {
  const name = `settle ${settlement.projectId}`
  return (await runBatched(name, settleStatement, settleInputOf(settlement))) !== undefined
}

/** Completes a call in the transaction of its effect. */
export async function settleInTransaction(
  transaction: PostgresTransaction,
  settlement: SettlementInput,
): Promise<boolean> {
  const query = listQuery(settleStatement, [settleInputOf(settlement)])
  return settleStatement.readRows(await transaction.run(query), 1)[0] !== undefined
}

function settleInputOf({ scores, row, decision, ...settlement }: SettlementInput) {
  const link = transferHashInput(chargeOf(settlement))
  return {
    ...settlement,
    scope: requireAccountScope(),
    response: hexText(settlement.response),
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
    detail: row.detail,
    bucket: latencyBucketOf(row.latencyMs) + 1,
    ...decisionColumns(decision),
  }
}
