import { formatUtc } from '../../lib/clock.ts'
import type { Store } from '../../store/database.ts'
import {
  deadlineOf,
  limitsOf,
  type AdmitTransactionResult,
  type AdmitTransactionOptions,
  type AdmitRequest,
} from './admit-transaction.ts'
import { takeToken } from '../../lib/limits/token-bucket.ts'
import { isReplaced, touchIntervalMs } from './former-secret.ts'
import { createReservation, priceUnitsOf } from './reservation.ts'

/**
 * Admits a call with one SQL statement, if the database has one for it and every check passes.
 * PostgreSQL has: it saves the round trips of the transaction. The statement follows the same rules
 * as `admitInTransaction`; test/postgres/gate/single-statement.test.ts compares both.
 *
 * @returns undefined when nothing was written; then the caller uses `admitInTransaction`.
 */
export async function admitInSingleStatement(
  { admitInOneStatement }: Pick<Store, 'admitInOneStatement'>,
  { call, parsed, consumedTokens, token }: AdmitRequest,
  options: AdmitTransactionOptions,
): Promise<Extract<AdmitTransactionResult, { kind: 'admitted' }> | undefined> {
  if (!admitInOneStatement || consumedTokens || 'error' in parsed) return undefined
  const { nowMs, steadyUs, limits } = options
  if (isReplaced(call.caller, nowMs)) return undefined
  const { projectId, keyId } = call.caller
  const key = { projectId, requestId: call.requestId.toLowerCase() }
  const facts = await admitInOneStatement({
    projectId,
    keyId,
    keyVersion: call.caller.version ?? null,
    action: call.action,
    requestId: key.requestId,
    permissions: parsed.permissions,
    nowMs,
    nowUtc: formatUtc(nowMs),
    touchedBeforeUtc: formatUtc(nowMs - touchIntervalMs),
    steadyUs,
    sustainedPerS: limits.sustainedPerS,
    burst: limits.burst,
    defaultMicros: options.unitMicros,
    units: priceUnitsOf(parsed, 0),
    fingerprint: parsed.fingerprint.hash,
    token,
    deadlineMs: deadlineOf(options),
  })
  if (!facts) return undefined
  const tokens = takeToken(limitsOf(facts, limits), facts.fullAtUs, steadyUs)
  const unitMicros = facts.unitMicros ?? options.unitMicros
  const reservation = createReservation({
    call,
    parsed,
    key,
    token,
    windowStartMs: nowMs,
    unitMicros,
    isBilled: facts.billing === 1,
  })
  return { kind: 'admitted', reservation, tokens }
}
