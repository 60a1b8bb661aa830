import { reportShortage, reserve } from '../../billing/ledger.ts'
import { ActionError } from '../../lib/errors.ts'
import type { TokenBucketResult } from '../../lib/limits/token-bucket.ts'
import { formatUtc } from '../../lib/clock.ts'
import type { AccessRequest, AdmissionInput, Now } from '../../store/gate/admission-facts.ts'
import * as rule from '../../store/gate/admission-rule.ts'
import type { Tx } from '../../store/database.ts'
import type { AuthenticatedCall, UnreadableContent } from '../call-states.ts'
import { logCall, outcomeOfError } from '../log-call.ts'
import { expireAttempt } from '../sweep.ts'
import { callKeyOf } from './admit-request.ts'

/** The result of an admission. Its writes belong to the transaction. */
export type AdmissionResult =
  | rule.Unauthorized
  | Rejected
  | Exclude<rule.AdmissionDecision, rule.Unauthorized | { readonly kind: 'rejected' }>

export type Rejected = {
  readonly kind: 'rejected'
  readonly tokens: TokenBucketResult
  readonly error: unknown
}

/**
 * Decides about a call in one transaction, and writes what the decision contains. A rejected call gets
 * a row in the request log. An admitted call gets a reservation of its price.
 *
 * @param getNow reads the clocks. It is called after the statement that may wait for other calls.
 */
export async function admitInTransaction(
  tx: Tx,
  call: AuthenticatedCall,
  input: AdmissionInput,
  getNow: () => Now,
): Promise<AdmissionResult> {
  const facts = await tx.findAdmissionFacts(input)
  const now = getNow()
  const decision = rule.decideAdmission(facts, input, now)
  if (decision.kind === 'unauthorized') return decision
  const { access } = decision
  await recordAccess(tx, call, { access, request: input, now })
  if (decision.kind === 'inFlight') return decision
  if (decision.kind === 'replay') {
    await logCall(tx, call, { code: decision.code, isReplay: true })
    return decision
  }
  await removeReplaced(tx, decision.replaced, now)
  if (decision.kind === 'rejected') {
    const { rejection, shortageMicros } = decision
    if (shortageMicros !== undefined) await reportShortage(tx, input.projectId, shortageMicros)
    return reject(tx, call, access, errorOf(rejection))
  }
  if (await storeReservation(tx, input, decision)) return decision
  return reject(tx, call, access, errorOf(rule.paymentRequired))
}

/**
 * Rejects a call that could not be read. An unreadable body is the first reason; an invalid field is
 * reported only if the key has the permissions and the rate limit permits the call.
 */
export async function rejectInTransaction(
  tx: Tx,
  call: AuthenticatedCall,
  { error, request }: Pick<UnreadableContent, 'error'> & { readonly request: AccessRequest },
  getNow: () => Now,
): Promise<rule.Unauthorized | Rejected> {
  const facts = await tx.findAdmissionFacts(callKeyOf(call))
  const now = getNow()
  const access = rule.decideAccess(facts, request, now)
  if (access.kind === 'unauthorized') return access
  await recordAccess(tx, call, { access, request, now })
  const earlier = error instanceof ActionError ? access.rejection : undefined
  return reject(tx, call, access, earlier ? errorOf(earlier) : error)
}

type Accessing = {
  readonly access: rule.Access
  readonly request: AccessRequest
  readonly now: Now
}

/** Stores what every call with a valid key changes. */
async function recordAccess(
  tx: Tx,
  { caller: { keyId, projectId } }: AuthenticatedCall,
  { access: { tokens, updatesLastUse }, request, now }: Accessing,
): Promise<void> {
  if (updatesLastUse) await tx.touchKey({ keyId, atUtc: formatUtc(now.nowMs) })
  if (!request.consumedTokens) await tx.updateBucket({ projectId, fullAtUs: tokens.fullAtUs })
}

async function removeReplaced(tx: Tx, replaced: rule.ReplacedAttempt | undefined, { nowMs }: Now) {
  if (replaced?.kind === 'stale') await tx.attempts.delete(replaced.attempt)
  if (replaced?.kind === 'overdue') await expireAttempt(tx, replaced.attempt, nowMs)
}

/**
 * Reserves the price in the budget of the project, and stores the reservation.
 *
 * @returns false if the budget became too small after it was read; then nothing was written.
 */
async function storeReservation(
  tx: Tx,
  { projectId, requestId, keyId, action, fingerprint, token }: AdmissionInput,
  { isRepeated, reservedMicros, deadlineMs, windowStartMs }: rule.Admitted,
): Promise<boolean> {
  if (isRepeated) return true
  if (!(await reserve(tx, projectId, reservedMicros))) return false
  const key = { projectId, requestId, keyId, action }
  const terms = { fingerprint, token, reservedMicros, deadlineMs, windowStartMs }
  await tx.attempts.insert({ ...key, ...terms })
  return true
}

async function reject(
  tx: Tx,
  call: AuthenticatedCall,
  { tokens }: rule.Access,
  error: unknown,
): Promise<Rejected> {
  await logCall(tx, call, outcomeOfError(error))
  return { kind: 'rejected', tokens, error }
}

export function errorOf({ code, message }: rule.RejectionReason): ActionError {
  return new ActionError(code, message)
}
