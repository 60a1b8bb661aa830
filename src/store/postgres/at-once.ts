import { accountAtWork } from '../../lib/account.ts'
import { bucketOf } from '../../lib/latency-histogram.ts'
import { binOf } from '../hours.ts'
import type { Claimed, QuickClaim, Settlement, Settled } from '../at-once.ts'
import type { Batches } from './batches.ts'
import { isPassing, Unheard } from './fault.ts'
import { prepare } from './statement.ts'
import type { Running } from './transaction.ts'

const claim = prepare<Claimed>(
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
export async function claimAtOnce(
  batches: Batches,
  { projectId, ...asked }: QuickClaim,
): Promise<Claimed | undefined> {
  const on = { run: (query: Parameters<Batches>[1]) => batches(`claim ${projectId}`, query) }
  try {
    return await claim.first(on, { ...asked, account: accountAtWork() })
  } catch (error) {
    if (error instanceof Unheard || isPassing(error, 'race')) return undefined
    throw error
  }
}

const settle = prepare<{ readonly transferId: number }>(
  `select * from "settleAtOnce"(:account, :projectId, :requestId, :token, :code, :answer, :scrubbed,
     :subjectIds, :reservedMicros, :amountMicros, :action, :windowStartMs, :nowMs, :linkBefore,
     :linkAfter, :scoreKinds, :scoreBins, :scoreMatches, :atMs, :keyId, :askedRequestId,
     :askedAction, :latencyMs, :bucket)`,
)

/** The last statement of a call's end, and often its only one: then it needs no transaction around. */
export async function settleAtOnce(
  running: Running,
  batches: Batches,
  { scores, row, link, ...settlement }: Settlement,
): Promise<Settled | undefined> {
  const parameters = {
    ...settlement,
    account: accountAtWork(),
    linkBefore: link.before,
    linkAfter: link.after,
    scoreKinds: scores.map(({ kind }) => kind),
    scoreBins: scores.map(({ value }) => binOf(value)),
    scoreMatches: scores.map(({ isMatched }) => (isMatched ? 1 : 0)),
    atMs: row.atMs,
    keyId: row.keyId,
    askedRequestId: row.requestId,
    askedAction: row.action,
    latencyMs: row.latencyMs,
    bucket: bucketOf(row.latencyMs) + 1,
  }
  const alone: Pick<Running, 'run'> = {
    run: (query) => batches(`settle ${settlement.projectId}`, query),
  }
  const settled = await settle.first(running.hasBegun() ? running : alone, parameters)
  return settled && { transferId: settled.transferId === 0 ? null : settled.transferId }
}
