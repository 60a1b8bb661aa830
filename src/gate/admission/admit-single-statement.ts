import { formatUtc } from '../../lib/utc.ts'
import type { Store } from '../../store/database.ts'
import { reservationOf, limitsOf, priceUnitsOf, touchIntervalMs } from './admit-transaction.ts'
import type {
  AdmitTransactionResult,
  AdmitTransactionOptions,
  AdmitRequest,
} from './admit-transaction.ts'
import { takeToken } from '../limit.ts'

/**
 * Claims a call against which nothing stands by one statement of the database, where it has one.
 *
 * @returns undefined when it did nothing, for whatever reason: then the gate asks its questions.
 */
export async function admitInSingleStatement(
  { admitInOneStatement: ask }: Store,
  { call: visit, parsed: asked, consumedTokens: paid, token }: AdmitRequest,
  options: AdmitTransactionOptions,
): Promise<Extract<AdmitTransactionResult, { kind: 'pass' }> | undefined> {
  if (!ask || paid || 'error' in asked) return undefined
  const { nowMs, steadyUs, limits } = options
  const { projectId, keyId } = visit.caller
  const key = { projectId, requestId: visit.requestId.toLowerCase() }
  const facts = await ask({
    projectId,
    keyId,
    action: visit.action,
    requestId: key.requestId,
    permissions: asked.permissions,
    nowMs,
    nowUtc: formatUtc(nowMs),
    touchedBeforeUtc: formatUtc(nowMs - touchIntervalMs),
    steadyUs,
    ...limits,
    defaultMicros: options.unitMicros,
    units: priceUnitsOf(asked, 0),
    fingerprint: asked.fingerprint.hash,
    token,
    deadlineMs: Math.floor(steadyUs / 1000) + options.attemptMsMax,
  })
  if (!facts) return undefined
  const tokens = takeToken(limitsOf(facts, options), facts.fullAtUs, steadyUs)
  const unitMicros = facts.unitMicros ?? options.unitMicros
  const attempt = reservationOf({
    call: visit,
    parsed: asked,
    key,
    token,
    windowStartMs: nowMs,
    unitMicros,
  })
  return { kind: 'pass', reservation: attempt, tokens }
}
