import { utcOf } from '../lib/utc.ts'
import type { Store } from '../store/database.ts'
import { attemptOf, limitsOf, priceUnitsOf, touchMsMin } from './claim.ts'
import type { Claim, ClaimOptions, Question } from './claim.ts'
import { takeToken } from './limit.ts'

/**
 * Claims a call against which nothing stands by one statement of the database, where it has one.
 *
 * @returns undefined when it did nothing, for whatever reason: then the gate asks its questions.
 */
export async function claimAtOnce(
  { claimAtOnce: ask }: Store,
  { visit, asked, paid, token }: Question,
  options: ClaimOptions,
): Promise<Extract<Claim, { kind: 'pass' }> | undefined> {
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
    nowUtc: utcOf(nowMs),
    touchedBeforeUtc: utcOf(nowMs - touchMsMin),
    steadyUs,
    ...limits,
    defaultMicros: options.unitMicros,
    units: priceUnitsOf(asked, 0),
    fingerprint: asked.content.fingerprint,
    token,
    deadlineMs: Math.floor(steadyUs / 1000) + options.attemptMsMax,
  })
  if (!facts) return undefined
  const tokens = takeToken(limitsOf(facts, options), facts.fullAtUs, steadyUs)
  const unitMicros = facts.unitMicros ?? options.unitMicros
  const attempt = attemptOf({ visit, asked, key, token, windowStartMs: nowMs, unitMicros })
  return { kind: 'pass', attempt, tokens }
}
