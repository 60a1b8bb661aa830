import { release } from '../billing/ledger.ts'
import type { AttemptRow } from '../store/schema.ts'
import type { Tx } from '../store/database.ts'
import { deleteExpiredAttempts } from '../store/gate/stored-responses.ts'
import type { AdmissionSettings, Now } from '../store/gate/admission-facts.ts'

/** The maximum number of rows of each kind per transaction, so that calls do not wait long for it. */
const rowsMax = 500

/**
 * Expires overdue reservations, and deletes stored responses and log rows that are old enough.
 *
 * @returns whether there can be more of them.
 */
export async function sweep(
  tx: Tx,
  { nowMs, steadyUs }: Now,
  { windowMs, logMsMax }: Pick<AdmissionSettings, 'windowMs'> & { readonly logMsMax: number },
): Promise<boolean> {
  const deadlineMs = Math.floor(steadyUs / 1000)
  const overdue = await tx.attempts.findOverdue({ deadlineMs, limit: rowsMax })
  for (const attempt of overdue) await expireAttempt(tx, attempt, nowMs)
  const responseCount = await deleteExpiredAttempts(tx, nowMs - windowMs)
  const callCount = await tx.sweepCalls({ beforeMs: nowMs - logMsMax, limit: rowsMax })
  // The bytes of responses also limit their number.
  return responseCount > 0 || Math.max(overdue.length, callCount) === rowsMax
}

/**
 * Expires the reservations that an earlier process left. The first server on a database expires all
 * of them; where other servers are running, only the overdue ones.
 *
 * @returns the number of expired reservations.
 */
export async function expireLeftover(tx: Tx, { nowMs, steadyUs }: Now, isFirstServer: boolean) {
  const deadlineMs = isFirstServer ? Number.MAX_SAFE_INTEGER : Math.floor(steadyUs / 1000)
  const leftover = await tx.attempts.findOverdue({ deadlineMs, limit: Number.MAX_SAFE_INTEGER })
  for (const attempt of leftover) await expireAttempt(tx, attempt, nowMs)
  return leftover.length
}

/**
 * Deletes the reservation of a call that did not finish, and releases its price. Nothing is billed;
 * the request log gets a row `EXPIRED`. A late result is discarded, because its token is no longer
 * stored.
 */
export async function expireAttempt(tx: Tx, attempt: AttemptRow, nowMs: number): Promise<void> {
  const { projectId, requestId, keyId, action, windowStartMs, reservedMicros } = attempt
  if (!(await tx.attempts.delete({ projectId, requestId }))) return
  await release(tx, projectId, reservedMicros)
  await tx.logCall({
    atMs: windowStartMs,
    keyId,
    projectId,
    requestId,
    action,
    code: 'EXPIRED',
    latencyMs: Math.max(0, nowMs - windowStartMs),
    costMicros: 0n,
    meteredMicros: 0n,
    isReplay: 0,
    transferId: null,
  })
}
