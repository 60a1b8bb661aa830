import { reportShortage } from '../../billing/ledger.ts'
import { ActionError } from '../../lib/errors.ts'
import type { Micros } from '../../lib/money.ts'
import { keyState, parsePermissions, type CredentialState } from '../../store/tenancy/keys.ts'
import type { AdmissionFacts } from '../../store/gate/statements.ts'
import type { Tx } from '../../store/tx.ts'
import type { Reservation, AuthenticatedCall, UnparsedCall } from '../incoming-call.ts'
import { expireAttempt } from '../sweep.ts'
import {
  takeToken,
  type RateLimits,
  type TokenBucketResult,
} from '../../lib/limits/token-bucket.ts'
import { logCall, outcomeOfError } from '../log-call.ts'
import { findReplay, type Now } from './find-replay.ts'
import { isReplaced, touchIntervalMs } from './former-secret.ts'
import type { RequestFingerprint } from '../fingerprint.ts'
import {
  budgetExhausted,
  createReservation,
  storeReservation,
  type FingerprintedCall,
} from './reservation.ts'

export type AdmitSettings = {
  /** Limits and price for projects and accounts without individual ones. */
  readonly limits: RateLimits
  readonly unitMicros: Micros
  readonly attemptMsMax: number
}

export type AdmitTransactionOptions = AdmitSettings & Now

export type AdmitRequest = {
  readonly call: AuthenticatedCall
  readonly parsed: FingerprintedCall | UnparsedCall
  /** The token that a waiting retry consumed at its first try: it pays only once. */
  readonly consumedTokens: TokenBucketResult | undefined
  /** Only the owner of this token may settle the reservation. */
  readonly token: string
}

export type AdmitTransactionResult =
  | {
      readonly kind: 'unauthorized'
      readonly state: Exclude<CredentialState, 'active'> | 'unknown'
    }
  | (AdmitDecision & { readonly tokens: TokenBucketResult })

type AdmitDecision =
  | { readonly kind: 'rejected'; readonly error: unknown }
  | {
      readonly kind: 'replay'
      readonly response: Uint8Array
      readonly fingerprint: RequestFingerprint
    }
  /** The first call with this requestId still runs. */
  | { readonly kind: 'inFlight' }
  | { readonly kind: 'admitted'; readonly reservation: Reservation }

/**
 * Makes all checks of the gate in one transaction: key, permissions, rate limit, replay, budget.
 * A rejected call gets a row in the request log. An admitted call gets a reservation of its price.
 * Every call consumes one rate-limit token if there is one, even if it is rejected.
 */
export async function admitInTransaction(
  tx: Tx,
  request: AdmitRequest,
  settings: AdmitSettings & { readonly now: () => Now },
): Promise<AdmitTransactionResult> {
  const { call, consumedTokens } = request
  const { keyId, projectId } = call.caller
  const facts = await tx.findAdmissionFacts({ keyId, action: call.action })
  // The statement above may have waited for other calls of the project, so read the clock after it.
  const options = { ...settings, ...settings.now() }
  const { nowMs, steadyUs } = options
  if (!facts) return { kind: 'unauthorized', state: 'unknown' }
  const state = keyState(facts, new Date(nowMs))
  if (state !== 'active') return { kind: 'unauthorized', state }
  if (isReplaced(call.caller, nowMs)) return { kind: 'unauthorized', state: 'replaced' }
  if (nowMs - Date.parse(facts.lastUsedAtUtc ?? '1970') >= touchIntervalMs)
    await tx.touchKey({ keyId, atUtc: new Date(nowMs).toISOString() })
  const tokens =
    consumedTokens ?? takeToken(limitsOf(facts, options.limits), facts.fullAtUs, steadyUs)
  if (!consumedTokens) await tx.upsertBucket({ projectId, fullAtUs: tokens.fullAtUs })
  return { ...(await decide(tx, request, { ...options, keyFacts: facts, tokens })), tokens }
}

type DecisionContext = AdmitTransactionOptions & {
  readonly keyFacts: AdmissionFacts
  readonly tokens: TokenBucketResult
}

export function limitsOf(
  { sustainedPerS, burst }: Pick<AdmissionFacts, 'sustainedPerS' | 'burst'>,
  limits: RateLimits,
): RateLimits {
  return { sustainedPerS: sustainedPerS ?? limits.sustainedPerS, burst: burst ?? limits.burst }
}

/** Makes the checks in the order of the API contract; the first failed check decides. */
async function decide(
  tx: Tx,
  request: AdmitRequest,
  context: DecisionContext,
): Promise<AdmitDecision> {
  const { call, parsed } = request
  const reject = async (error: unknown): Promise<AdmitDecision> => {
    await logCall(tx, call, outcomeOfError(error))
    return { kind: 'rejected', error }
  }
  try {
    // An unreadable body is rejected first; an invalid field only after the rate limit.
    if ('error' in parsed && !(parsed.error instanceof ActionError))
      return await reject(parsed.error)
    const granted = parsePermissions(context.keyFacts.permissions)
    for (const permission of parsed.permissions ?? []) requirePermission(granted, permission)
    if (!context.tokens.isAllowed) throw rateLimitedError()
    if ('error' in parsed) throw parsed.error
    return await replayOrReserve(tx, { ...request, parsed }, context)
  } catch (error) {
    if (error instanceof ActionError) return reject(error)
    throw error
  }
}

/**
 * Checks that the key has the permission. Permissions are named after the actions; `*` grants all.
 *
 * @throws ActionError FORBIDDEN that names the missing permission.
 */
export function requirePermission(granted: readonly string[], permission: string): void {
  if (granted.includes('*') || granted.includes(permission)) return
  throw new ActionError('FORBIDDEN', `This key lacks the permission ${permission}.`)
}

export function rateLimitedError(): ActionError {
  return new ActionError('RATE_LIMITED', 'Project rate limit exceeded.')
}

type FingerprintedRequest = AdmitRequest & { readonly parsed: FingerprintedCall }

/** @throws ActionError REQUEST_ID_CONFLICT or PAYMENT_REQUIRED. */
async function replayOrReserve(
  tx: Tx,
  { call, parsed, token }: FingerprintedRequest,
  context: DecisionContext,
): Promise<AdmitDecision> {
  const { nowMs } = context
  const { fingerprint } = parsed
  const key = { projectId: call.caller.projectId, requestId: call.requestId.toLowerCase() }
  const unitMicros = context.keyFacts.unitMicros ?? context.unitMicros
  const found = await tx.attempts.find(key)
  const isBilled = context.keyFacts.billing === 1
  const input = { call, parsed, key, token, unitMicros, isBilled }
  // This same admission was committed before, but its result was lost on the connection.
  if (found?.token === token) {
    const { windowStartMs, reservedMicros } = found
    const stored = createReservation({ ...input, windowStartMs })
    // What was reserved shows whether the call is billed: the setting may have changed since.
    const prices = { reservedMicros, isBilled: reservedMicros > 0n }
    return { kind: 'admitted', reservation: { ...stored, ...prices } }
  }
  const earlier = findReplay(found, fingerprint.hash, context)
  if (earlier.kind === 'running') return { kind: 'inFlight' }
  if (earlier.kind === 'done') {
    await logCall(tx, call, { code: earlier.code, isReplay: true })
    return { kind: 'replay', response: earlier.response, fingerprint }
  }
  if (earlier.kind === 'stale') await tx.attempts.delete(key)
  if (earlier.kind === 'overdue') await expireAttempt(tx, earlier.attempt, nowMs)
  // The retry of an expired call keeps its window, so that the ledger rejects a second charge.
  const windowStartMs = earlier.kind === 'overdue' ? earlier.attempt.windowStartMs : nowMs
  const reservation = createReservation({ ...input, windowStartMs })
  if (!(await storeReservation(tx, reservation, deadlineOf(context)))) {
    await reportShortageOnce(tx, reservation, context.keyFacts)
    throw new ActionError('PAYMENT_REQUIRED', budgetExhausted)
  }
  return { kind: 'admitted', reservation }
}

/** Of the calls refused after an allocation, only the first one runs a statement for it. */
async function reportShortageOnce(
  tx: Tx,
  { projectId, reservedMicros }: Reservation,
  { balanceMicros, exhaustedAtMicros }: AdmissionFacts,
): Promise<void> {
  if (exhaustedAtMicros !== null && balanceMicros < reservedMicros)
    await reportShortage(tx, projectId, reservedMicros)
}

/** Returns the time at which a call admitted now expires, in milliseconds of the steady clock. */
export function deadlineOf({ steadyUs, attemptMsMax }: AdmitTransactionOptions): number {
  return Math.floor(steadyUs / 1000) + attemptMsMax
}
