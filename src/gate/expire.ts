import { release } from '../billing/ledger.ts'
import type { AttemptRow } from '../store/schema.ts'
import type { Tx } from '../store/tx.ts'

/**
 * Ends an attempt that never came back: what it had set aside is free again, nothing is billed, and
 * the log says so. Should it come back yet, its token opens nothing any more.
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
    isReplay: 0,
    transferId: null,
  })
}
