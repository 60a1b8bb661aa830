import { hasPermission } from '../../lib/has-permission.ts'
import {
  takeToken,
  type RateLimits,
  type TokenBucketResult,
} from '../../lib/limits/token-bucket.ts'
import type { Micros } from '../../lib/money.ts'
import type { AttemptRow } from '../schema.ts'
import { hasFormerSecretEnded, keyState, type CredentialState } from '../tenancy/keys.ts'
import type {
  AccessRequest,
  AdmissionFacts,
  AdmissionInput,
  BudgetState,
  Now,
} from './admission-facts.ts'

export type Unauthorized = {
  readonly kind: 'unauthorized'
  readonly state: Exclude<CredentialState, 'active'> | 'unknown'
}

export type RejectionReason = {
  readonly code: 'FORBIDDEN' | 'RATE_LIMITED' | 'REQUEST_ID_CONFLICT' | 'PAYMENT_REQUIRED'
  readonly message: string
}

/** The result of the checks of the key, and what every call with a valid key changes. */
export type Access = {
  readonly kind: 'authorized'
  /** Every call consumes one token if there is one, even if it is rejected. */
  readonly tokens: TokenBucketResult
  /** Whether the last use of the key is to be updated. */
  readonly updatesLastUse: boolean
  readonly rejection: RejectionReason | undefined
}

/** An attempt that a new call with its requestId replaces. An overdue one is logged as expired. */
export type ReplacedAttempt = {
  readonly kind: 'stale' | 'overdue'
  readonly attempt: AttemptRow
}

export type Admitted = {
  readonly kind: 'admitted'
  readonly access: Access
  readonly replaced: ReplacedAttempt | undefined
  /** This same admission was committed before, but its result was lost on the connection. */
  readonly isRepeated: boolean
  readonly windowStartMs: number
  /** By the steady clock. */
  readonly deadlineMs: number
  /** The price of one unit, and of the whole call; later price changes do not affect it. */
  readonly unitMicros: Micros
  readonly reservedMicros: Micros
  /** Whether the call is charged; if not, its price is only recorded. */
  readonly isBilled: boolean
}

/** What the owner of an admitted call needs of the decision. */
export type AdmittedTerms = Pick<
  Admitted,
  'windowStartMs' | 'unitMicros' | 'reservedMicros' | 'isBilled'
> & { readonly access: Pick<Access, 'tokens'> }

export type AdmissionDecision =
  | Unauthorized
  | Admitted
  | {
      readonly kind: 'rejected'
      readonly access: Access
      readonly rejection: RejectionReason
      readonly replaced: ReplacedAttempt | undefined
      /** The price for which the event `budget.exhausted` is due. */
      readonly shortageMicros: Micros | undefined
    }
  | {
      readonly kind: 'replay'
      readonly access: Access
      readonly code: string
      readonly response: Uint8Array
    }
  /** The first call with this requestId still runs; a retry waits for it. */
  | { readonly kind: 'inFlight'; readonly access: Access }

/**
 * The admission rule: decides whether a call may run, in the order of the API contract. The first
 * failed check decides. The transaction (`gate/admission`) and the group commit of SQLite
 * (`store/sqlite/calls`) apply its decisions. The function `admitCalls` of PostgreSQL follows the same
 * rule for calls that are admitted; test/postgres/gate/admission-rule.test.ts compares both.
 */
export function decideAdmission(
  facts: AdmissionFacts | undefined,
  request: AdmissionInput,
  now: Now,
): AdmissionDecision {
  if (!facts) return unknownKey
  const access = decideAccess(facts, request, now)
  if (access.kind === 'unauthorized') return access
  if (access.rejection) return rejected(access, access.rejection)
  const { attempt, key } = facts
  if (attempt?.token === request.token) return admittedBefore(attempt, facts, request, access)
  const replaced = attempt && findReplaced(attempt, request.windowMs, now)
  if (attempt && !replaced) return decideRetry(attempt, key, request, access)

  const unitMicros = key.unitMicros ?? request.unitMicros
  const isBilled = key.billing === 1
  const priceMicros = isBilled ? BigInt(request.units) * unitMicros : 0n
  const overdue = replaced?.kind === 'overdue' ? replaced.attempt : undefined
  if (!isCovered(facts.budget, priceMicros, overdue?.reservedMicros ?? 0n)) {
    const shortageMicros = shortageOf(facts.budget, priceMicros)
    return rejected(access, paymentRequired, replaced, shortageMicros)
  }
  return {
    kind: 'admitted',
    access,
    replaced,
    isRepeated: false,
    // The retry of an expired call keeps its window, so that the ledger rejects a second charge.
    windowStartMs: overdue?.windowStartMs ?? now.nowMs,
    deadlineMs: deadlineOf(now, request.attemptMsMax),
    unitMicros,
    reservedMicros: priceMicros,
    isBilled,
  }
}

/**
 * Makes the checks that precede those of the content: the key, its permissions and the rate limit of
 * its project. A call that could not be read passes only these.
 */
export function decideAccess(
  facts: AdmissionFacts | undefined,
  { permissions, consumedTokens, limits, formerEndsAtUtc }: AccessRequest,
  { nowMs, steadyUs }: Now,
): Unauthorized | Access {
  if (!facts) return unknownKey
  const { key, fullAtUs } = facts
  const now = new Date(nowMs)
  const state = keyState(key, now)
  if (state !== 'active') return { kind: 'unauthorized', state }
  if (formerEndsAtUtc !== null && hasFormerSecretEnded(formerEndsAtUtc, now))
    return { kind: 'unauthorized', state: 'replaced' }
  const tokens = consumedTokens ?? takeToken(limitsOf(key, limits), fullAtUs, steadyUs)
  return {
    kind: 'authorized',
    tokens,
    updatesLastUse: nowMs - Date.parse(key.lastUsedAtUtc ?? '1970') >= lastUseIntervalMs,
    rejection: checkPermissions(key.permissions, permissions) ?? checkTokens(tokens),
  }
}

const unknownKey: Unauthorized = { kind: 'unauthorized', state: 'unknown' }

/** The last use of a key, and of its former secret, is stored at most once per interval. */
export const lastUseIntervalMs = 60_000

/** Permissions are named after the actions; `*` grants all. */
export function checkPermissions(
  granted: readonly string[],
  required: readonly string[],
): RejectionReason | undefined {
  const missing = required.find((permission) => !hasPermission(granted, permission))
  if (missing === undefined) return undefined
  return { code: 'FORBIDDEN', message: `This key lacks the permission ${missing}.` }
}

export function checkTokens({ isAllowed }: TokenBucketResult): RejectionReason | undefined {
  return isAllowed ? undefined : { code: 'RATE_LIMITED', message: 'Project rate limit exceeded.' }
}

/** Returns the limits of a project: its own, or else the default ones. */
export function limitsOf(
  { sustainedPerS, burst }: { readonly [name in keyof RateLimits]: number | null },
  defaults: RateLimits,
): RateLimits {
  return { sustainedPerS: sustainedPerS ?? defaults.sustainedPerS, burst: burst ?? defaults.burst }
}

/** Returns the time at which a call admitted now expires, in milliseconds of the steady clock. */
export function deadlineOf({ steadyUs }: Pick<Now, 'steadyUs'>, attemptMsMax: number): number {
  return Math.floor(steadyUs / 1000) + attemptMsMax
}

function findReplaced(
  attempt: AttemptRow,
  windowMs: number,
  { nowMs, steadyUs }: Now,
): ReplacedAttempt | undefined {
  const { state, deadlineMs, windowStartMs } = attempt
  if (state === 'running' && deadlineMs * 1000 < steadyUs) return { kind: 'overdue', attempt }
  if (state === 'done' && windowStartMs + windowMs <= nowMs) return { kind: 'stale', attempt }
  return undefined
}

/** Decides about a call whose requestId was used before. */
function decideRetry(
  { fingerprint, code, response }: AttemptRow,
  { permissions }: AdmissionFacts['key'],
  { fingerprint: sent, replayPermissions }: AdmissionInput,
  access: Access,
): AdmissionDecision {
  if (Buffer.compare(sent, fingerprint) !== 0) return rejected(access, requestIdConflict)
  const missing = checkPermissions(permissions, replayPermissions)
  if (missing) return rejected(access, missing)
  if (code === null) return { kind: 'inFlight', access }
  return response ? { kind: 'replay', access, code, response } : rejected(access, responseNotStored)
}

function admittedBefore(
  { windowStartMs, deadlineMs, reservedMicros }: AttemptRow,
  { key }: AdmissionFacts,
  { unitMicros }: AdmissionInput,
  access: Access,
): Admitted {
  return {
    kind: 'admitted',
    access,
    replaced: undefined,
    isRepeated: true,
    windowStartMs,
    deadlineMs,
    unitMicros: key.unitMicros ?? unitMicros,
    reservedMicros,
    // What was reserved shows whether the call is billed: the setting may have changed since.
    isBilled: reservedMicros > 0n,
  }
}

/** @param releasedMicros the reservation of the replaced attempt, which is released first. */
function isCovered(
  { balanceMicros, reservedMicros }: BudgetState,
  priceMicros: Micros,
  releasedMicros: Micros,
): boolean {
  return priceMicros === 0n || balanceMicros - reservedMicros + releasedMicros >= priceMicros
}

/** Of the calls refused after an allocation, only the first one makes the event due. */
function shortageOf({ balanceMicros, exhaustedAtMicros }: BudgetState, priceMicros: Micros) {
  return exhaustedAtMicros !== null && balanceMicros < priceMicros ? priceMicros : undefined
}

const requestIdConflict: RejectionReason = {
  code: 'REQUEST_ID_CONFLICT',
  message: 'requestId: it was used for a call with other content',
}

const responseNotStored: RejectionReason = {
  code: 'REQUEST_ID_CONFLICT',
  message:
    'requestId: the call with this id is completed and does not run again, and its response is no longer stored, because later responses of the project reached REPLAY_BYTES_MAX',
}

export const paymentRequired: RejectionReason = {
  code: 'PAYMENT_REQUIRED',
  message:
    'The budget of the project does not cover the price of the call. Top it up (facegate wallet top-up, then facegate budget allocate) or switch billing off (facegate project set <project> --billing off).',
}

function rejected(
  access: Access,
  rejection: RejectionReason,
  replaced?: ReplacedAttempt,
  shortageMicros?: Micros,
): AdmissionDecision {
  return { kind: 'rejected', access, rejection, replaced, shortageMicros }
}
