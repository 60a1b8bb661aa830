import { ActionError } from '../../lib/errors.ts'
import type { Micros } from '../../lib/money.ts'
import { keyState, parsePermissions, type KeyState } from '../../store/tenancy/keys.ts'
import type { AttemptRow } from '../../store/schema.ts'
import type { AdmissionFacts } from '../../store/gate/statements.ts'
import type { Tx } from '../../store/tx.ts'
import { afford } from './afford.ts'
import type { Reservation, BillableCall, AuthenticatedCall } from '../incoming-call.ts'
import { expireAttempt } from '../expire.ts'
import { takeToken, type RateLimits, type TokenBucketResult } from '../limit.ts'
import { errorCodeOf, logCall } from '../log-call.ts'
import { permit } from './permit.ts'
import { findReplay, type Now } from './find-replay.ts'
import type { RequestFingerprint } from '../fingerprint.ts'

export type AdmitSettings = {
  /** For projects and accounts that have none of their own. */
  readonly limits: RateLimits
  readonly unitMicros: Micros
  readonly attemptMsMax: number
}

export type AdmitTransactionOptions = AdmitSettings & Now

export type AdmitRequest = {
  readonly call: AuthenticatedCall
  readonly parsed:
    | (BillableCall & { readonly fingerprint: RequestFingerprint })
    | { readonly error: unknown }
  /** What a twin paid when it first asked: nobody pays twice. */
  readonly consumedTokens: TokenBucketResult | undefined
  /** Who may settle the attempt, if there is one. */
  readonly token: string
}

export type AdmitTransactionResult =
  | { readonly kind: 'unauthorized'; readonly state: Exclude<KeyState, 'active'> | 'unknown' }
  | (AdmitDecision & { readonly tokens: TokenBucketResult })

type AdmitDecision =
  | { readonly kind: 'refused'; readonly error: unknown }
  | {
      readonly kind: 'replay'
      readonly response: Uint8Array
      readonly fingerprint: RequestFingerprint
    }
  | { readonly kind: 'twin' }
  | { readonly kind: 'pass'; readonly reservation: Reservation }

/** A key's last use is written down once in so long. */
export const touchIntervalMs = 60_000
const imagesMax = 10

/**
 * The gate's one transaction: is the key still good, may it do this, is there a token, was this asked
 * before, does the budget cover it? Whoever is refused has a row in the log at the end; whoever
 * passes has the price set aside and an attempt of its own. Every call takes a token where there is
 * one, whatever becomes of it.
 */
export async function admitInTransaction(
  tx: Tx,
  question: AdmitRequest,
  settings: AdmitSettings & { readonly now: () => Now },
): Promise<AdmitTransactionResult> {
  const { call: visit, consumedTokens: paid } = question
  const { keyId, projectId } = visit.caller
  const facts = await tx.findAdmissionFacts({ keyId, action: visit.action })
  // Now is when the claim's turn has come: it may have waited for others of its project.
  const options = { ...settings, ...settings.now() }
  const { nowMs, steadyUs } = options
  if (!facts) return { kind: 'unauthorized', state: 'unknown' }
  const state = keyState(facts, new Date(nowMs))
  if (state !== 'active') return { kind: 'unauthorized', state }
  if (nowMs - Date.parse(facts.lastUsedAtUtc ?? '1970') >= touchIntervalMs)
    await tx.touchKey({ keyId, atUtc: new Date(nowMs).toISOString() })
  const tokens = paid ?? takeToken(limitsOf(facts, options), facts.fullAtUs, steadyUs)
  if (!paid) await tx.upsertBucket({ projectId, fullAtUs: tokens.fullAtUs })
  return { ...(await decide(tx, question, { ...options, keyFacts: facts, tokens })), tokens }
}

type DecisionContext = AdmitTransactionOptions & {
  readonly keyFacts: AdmissionFacts
  readonly tokens: TokenBucketResult
}

export function limitsOf(
  { sustainedPerS, burst }: Pick<AdmissionFacts, 'sustainedPerS' | 'burst'>,
  { limits }: AdmitTransactionOptions,
): RateLimits {
  return { sustainedPerS: sustainedPerS ?? limits.sustainedPerS, burst: burst ?? limits.burst }
}

/** The questions in the order of the contract; the first refusal is the answer. */
async function decide(
  tx: Tx,
  question: AdmitRequest,
  known: DecisionContext,
): Promise<AdmitDecision> {
  const { call: visit, parsed: asked } = question
  const refused = async (error: unknown): Promise<AdmitDecision> => {
    await logCall(tx, visit, { code: errorCodeOf(error) })
    return { kind: 'refused', error }
  }
  try {
    // A body that could not be read keeps its status; what is wrong inside it waits for its turn.
    if ('error' in asked && !(asked.error instanceof ActionError)) return await refused(asked.error)
    if (!('error' in asked)) {
      const held = parsePermissions(known.keyFacts.permissions)
      for (const permission of asked.permissions) permit(held, permission)
    }
    if (!known.tokens.isAllowed)
      throw new ActionError('RATE_LIMITED', 'Project rate limit exceeded.')
    if ('error' in asked) throw asked.error
    return await replayOrReserve(tx, question, asked, known)
  } catch (error) {
    if (error instanceof ActionError) return refused(error)
    throw error
  }
}

type FingerprintedCall = Exclude<AdmitRequest['parsed'], { readonly error: unknown }>

/** @throws ActionError REQUEST_ID_CONFLICT or PAYMENT_REQUIRED. */
async function replayOrReserve(
  tx: Tx,
  { call: visit, token }: AdmitRequest,
  asked: FingerprintedCall,
  known: DecisionContext,
): Promise<AdmitDecision> {
  const { nowMs } = known
  const { fingerprint: content } = asked
  const key = { projectId: visit.caller.projectId, requestId: visit.requestId.toLowerCase() }
  const unitMicros = known.keyFacts.unitMicros ?? known.unitMicros
  const found = await tx.attempts.find(key)
  const attempt = reservationOf({
    call: visit,
    parsed: asked,
    key,
    token,
    windowStartMs: nowMs,
    unitMicros,
  })
  // It was begun by this very question, whose answer was lost on the way.
  if (found?.token === token)
    return { kind: 'pass', reservation: { ...attempt, ...reservedAmountOf(found) } }
  const earlier = findReplay(found, content.hash, known)
  if (earlier.kind === 'running') return { kind: 'twin' }
  if (earlier.kind === 'done') {
    await logCall(tx, visit, { code: earlier.code, isReplay: true })
    return { kind: 'replay', response: earlier.response, fingerprint: content }
  }
  if (earlier.kind === 'stale') await tx.attempts.delete(key)
  if (earlier.kind === 'overdue') await expireAttempt(tx, earlier.attempt, nowMs)
  // A retry of an attempt that was given up stays in its window: the ledger then refuses two charges.
  const windowStartMs = earlier.kind === 'overdue' ? earlier.attempt.windowStartMs : nowMs
  return {
    kind: 'pass',
    reservation: await insertReservation(tx, { ...attempt, windowStartMs }, known),
  }
}

type NewReservation = {
  readonly call: AuthenticatedCall
  readonly parsed: FingerprintedCall
  readonly key: { readonly projectId: string; readonly requestId: string }
  readonly token: string
  readonly windowStartMs: number
  /** The frozen price of a unit. */
  readonly unitMicros: Micros
}

/** The attempt that a call is to have, at its price. */
export function reservationOf(of: NewReservation): Reservation {
  const { call: visit, parsed: asked, key, token, windowStartMs, unitMicros } = of
  const priceMicros = (failedCount: number): Micros =>
    BigInt(priceUnitsOf(asked, failedCount)) * unitMicros
  const { fingerprint: content } = asked
  return {
    call: visit,
    ...key,
    token,
    fingerprint: content,
    windowStartMs,
    reservedMicros: priceMicros(0),
    priceMicros,
  }
}

function reservedAmountOf({ windowStartMs, reservedMicros }: AttemptRow) {
  return { windowStartMs, reservedMicros }
}

/** @throws ActionError PAYMENT_REQUIRED. */
async function insertReservation(
  tx: Tx,
  attempt: Reservation,
  known: DecisionContext,
): Promise<Reservation> {
  const {
    call: visit,
    projectId,
    requestId,
    token,
    fingerprint: content,
    windowStartMs,
    reservedMicros,
  } = attempt
  await afford(tx, projectId, reservedMicros)
  await tx.attempts.insert({
    projectId,
    requestId,
    keyId: visit.caller.keyId,
    action: visit.action,
    fingerprint: content.hash,
    token,
    reservedMicros,
    deadlineMs: Math.floor(known.steadyUs / 1000) + known.attemptMsMax,
    windowStartMs,
  })
  return attempt
}

/** The price in units, if so many of the images failed. */
export function priceUnitsOf({ action, params }: FingerprintedCall, failedCount: number): number {
  return action.price(imageCountOf(params) - failedCount)
}

/** The parameters are not validated yet: whatever is no list of images counts as none. */
function imageCountOf(params: unknown): number {
  if (typeof params !== 'object' || params === null || !('images' in params)) return 0
  return Array.isArray(params.images) ? Math.min(params.images.length, imagesMax) : 0
}
