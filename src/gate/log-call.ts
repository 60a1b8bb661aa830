import { ActionError, errorTable, HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import type { CallRow } from '../store/schema.ts'
import type { Tx } from '../store/tx.ts'
import type { AuthenticatedCall } from './incoming-call.ts'

export type CallOutcome = {
  readonly code: string
  readonly isReplay?: boolean
  /** The charge, if there was one, and what it was. */
  readonly transferId?: number
  readonly costMicros?: Micros
}

const actionLengthMax = 128

/** Adds the row of the request log for one call. */
export async function logCall(
  tx: Tx,
  visit: AuthenticatedCall,
  ending: CallOutcome,
): Promise<void> {
  await tx.logCall(callRowOf(visit, ending))
}

/** The row as it is at this moment. Fields are chosen one by one; params never are. */
export function callRowOf(visit: AuthenticatedCall, ending: CallOutcome): Omit<CallRow, 'callId'> {
  const { caller, requestId, action, startMs } = visit
  const latencyMs = performance.now() - startMs
  return {
    atMs: visit.atMs,
    keyId: caller.keyId,
    projectId: caller.projectId,
    requestId,
    action: printable(action),
    code: ending.code,
    latencyMs: Math.round(latencyMs * 1000) / 1000,
    costMicros: ending.costMicros ?? 0n,
    isReplay: ending.isReplay ? 1 : 0,
    transferId: ending.transferId ?? null,
  }
}

/**
 * How the log names a failure: by the code of the error table, where the table has one for it, else
 * by the status under which the answer left.
 */
export function errorCodeOf(error: unknown): string {
  if (error instanceof ActionError) return error.code
  const status = error instanceof HttpError ? error.status : 500
  if (status === 400) return 'INVALID_REQUEST'
  const known = Object.entries(errorTable).find(([, row]) => row.status === status)
  return known?.[0] ?? `HTTP_${status}`
}

/** A caller's own text may stand in the log, but neither forge a line nor flood it. */
function printable(text: string): string {
  return text.slice(0, actionLengthMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '')
}
