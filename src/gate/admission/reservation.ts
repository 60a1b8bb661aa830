import { reserve } from '../../billing/ledger.ts'
import type { Micros } from '../../lib/money.ts'
import type { Tx } from '../../store/tx.ts'
import type { RequestFingerprint } from '../fingerprint.ts'
import type { AuthenticatedCall, BillableCall, Reservation } from '../incoming-call.ts'

export type FingerprintedCall = BillableCall & { readonly fingerprint: RequestFingerprint }

type NewReservation = {
  readonly call: AuthenticatedCall
  readonly parsed: FingerprintedCall
  readonly key: { readonly projectId: string; readonly requestId: string }
  readonly token: string
  readonly windowStartMs: number
  /** The price of one unit at the time of admission. */
  readonly unitMicros: Micros
  /** Whether the project's calls are charged at the time of admission. */
  readonly isBilled: boolean
}

const imagesMax = 10

/** The message of a call that the budget does not cover. */
export const budgetExhausted =
  'The budget of the project does not cover the price of the call. Top it up (facegate wallet top-up, then facegate budget allocate) or switch billing off (facegate project set <project> --billing off).'

/** Creates the reservation of a call, with its price. It writes nothing. */
export function createReservation(input: NewReservation): Reservation {
  const { call, parsed, key, token, windowStartMs, unitMicros, isBilled } = input
  const priceMicros = (failedCount: number): Micros =>
    BigInt(priceUnitsOf(parsed, failedCount)) * unitMicros
  const { fingerprint } = parsed
  const reservedMicros = isBilled ? priceMicros(0) : 0n
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
 * Reserves the price in the budget of the project, and stores the reservation.
 *
 * @returns false if the budget is too small; then nothing was written.
 */
export async function storeReservation(
  tx: Tx,
  reservation: Reservation,
  deadlineMs: number,
): Promise<boolean> {
  const { call, projectId, requestId, token, fingerprint, windowStartMs, reservedMicros } =
    reservation
  if (!(await reserve(tx, projectId, reservedMicros))) return false
  await tx.attempts.insert({
    projectId,
    requestId,
    keyId: call.caller.keyId,
    action: call.action,
    fingerprint: fingerprint.hash,
    token,
    reservedMicros,
    deadlineMs,
    windowStartMs,
  })
  return true
}

/** Returns the price in units when the given number of images failed. */
export function priceUnitsOf({ action, params }: BillableCall, failedCount: number): number {
  return action.price(imageCountOf(params) - failedCount, params)
}

/** Parameters are not validated at this point; anything but a list of images counts as none. */
function imageCountOf(params: unknown): number {
  if (typeof params !== 'object' || params === null || !('images' in params)) return 0
  return Array.isArray(params.images) ? Math.min(params.images.length, imagesMax) : 0
}
