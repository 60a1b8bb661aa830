import { newId } from '../../lib/ids.ts'
import { imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import type { Micros } from '../../lib/money.ts'
import { sentImages } from '../../lib/validation/sent-images.ts'
import type {
  AccessRequest,
  AdmissionInput,
  AdmissionSettings,
  CallKey,
  Now,
} from '../../store/gate/admission-facts.ts'
import type { AdmittedTerms } from '../../store/gate/admission-rule.ts'
import type { AuthenticatedCall, CallContent, Reservation } from '../call-states.ts'
import { fingerprintOf, type RequestFingerprint } from '../request-fingerprint.ts'

/** A call to be admitted. */
export type AdmitRequest = {
  readonly call: AuthenticatedCall
  readonly key: CallKey
  readonly content: CallContent
  readonly fingerprint: RequestFingerprint
  /** Only the owner of this token may settle the reservation. */
  readonly token: string
}

export function createAdmitRequest(call: AuthenticatedCall, content: CallContent): AdmitRequest {
  const key = callKeyOf(call)
  const { projectId, requestId, action } = key
  const { params, debug } = content
  const { replayScope } = content.action
  const fingerprint = fingerprintOf({ projectId, requestId, action, params, debug, replayScope })
  return { call, key, content, fingerprint, token: newId() }
}

export function callKeyOf({ caller, requestId, action }: AuthenticatedCall): CallKey {
  const { projectId, keyId } = caller
  // Two spellings of a UUID are one request.
  return { projectId, keyId, requestId: requestId.toLowerCase(), action }
}

/** Returns what the checks of the key depend on. */
export function accessRequestOf(
  { caller }: AuthenticatedCall,
  permissions: readonly string[],
  { limits }: Pick<AdmissionSettings, 'limits'>,
): AccessRequest {
  return { formerEndsAtUtc: formerEndOf(caller), permissions, consumedTokens: undefined, limits }
}

function formerEndOf({ formerSecret }: AuthenticatedCall['caller']): string | null {
  return formerSecret?.endsAtUtc ?? null
}

/** Returns what the admission rule and its statements depend on. It is copied field by field for speed. */
export function admissionInputOf(
  { call: { caller }, key, content, fingerprint, token }: AdmitRequest,
  settings: AdmissionSettings,
  { nowMs, steadyUs }: Now,
): AdmissionInput {
  return {
    projectId: key.projectId,
    keyId: key.keyId,
    requestId: key.requestId,
    action: key.action,
    keyVersion: caller.version ?? null,
    formerEndsAtUtc: formerEndOf(caller),
    permissions: content.permissions,
    replayPermissions: content.replayPermissions ?? [],
    consumedTokens: undefined,
    limits: settings.limits,
    unitMicros: settings.unitMicros,
    attemptMsMax: settings.attemptMsMax,
    windowMs: settings.windowMs,
    units: priceUnitsOf(content, 0),
    fingerprint: fingerprint.hash,
    token,
    nowMs,
    steadyUs,
  }
}

/** Returns the stored record of an admitted call. */
export function reservationOf(
  { call, key, content, fingerprint, token }: AdmitRequest,
  { windowStartMs, unitMicros, reservedMicros, isBilled }: AdmittedTerms,
): Reservation {
  const priceMicros = (failedCount: number): Micros =>
    BigInt(priceUnitsOf(content, failedCount)) * unitMicros
  return {
    call,
    projectId: key.projectId,
    requestId: key.requestId,
    token,
    fingerprint,
    windowStartMs,
    reservedMicros,
    isBilled,
    priceMicros,
  }
}

/**
 * Returns the price in units when the given number of images failed. Parameters are not validated at this
 * point.
 */
export function priceUnitsOf(
  { action, params }: Pick<CallContent, 'action' | 'params'>,
  failedCount: number,
): number {
  const imageCount = Math.min(sentImages(params).length, imagesPerCallMax)
  return action.price(imageCount - failedCount, params)
}
