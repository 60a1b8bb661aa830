import assert from 'node:assert/strict'
import { reserve } from '../../../src/billing/ledger.ts'
import type { SettlementInput } from '../../../src/store/gate/statements.ts'
import type { Tx } from '../../../src/store/database.ts'

type ChargedCall = {
  readonly projectId: string
  readonly keyId: string
  /** In the spelling of the request log. */
  readonly requestId: string
  readonly action: string
  readonly windowStartMs: number
  readonly amountMicros: bigint
  readonly nowMs: number
}

const token = 'token'

/** Returns a settlement that charges the whole reserved price of a call. */
export function settlementOf(
  call: ChargedCall,
  overrides: Partial<SettlementInput> = {},
): SettlementInput {
  const { projectId, keyId, requestId, action, windowStartMs, amountMicros, nowMs } = call
  return {
    projectId,
    requestId: requestId.toLowerCase(),
    token,
    code: 'OK',
    response: Buffer.from('response'),
    scrubbed: null,
    subjectIds: [],
    scores: [],
    reservedMicros: amountMicros,
    amountMicros,
    meteredMicros: 0n,
    action,
    windowStartMs,
    nowMs,
    row: { atMs: windowStartMs, keyId, requestId, action, latencyMs: 12.345, detail: null },
    ...overrides,
  }
}

/** Stores the attempt of a call, and reserves its price. An earlier attempt is replaced. */
export async function reserveCall(tx: Tx, call: ChargedCall): Promise<void> {
  const { projectId, keyId, action, windowStartMs, amountMicros: reservedMicros, nowMs } = call
  const requestId = call.requestId.toLowerCase()
  await tx.attempts.delete({ projectId, requestId })
  assert.ok(await reserve(tx, projectId, reservedMicros))
  const terms = { reservedMicros, windowStartMs, deadlineMs: nowMs, token }
  const fingerprint = Buffer.alloc(32)
  await tx.attempts.insert({ projectId, requestId, keyId, action, fingerprint, ...terms })
}

/** Admits and settles a call. @returns the id of its charge. */
export async function chargeCall(
  tx: Tx,
  call: ChargedCall,
  overrides: Partial<SettlementInput> = {},
): Promise<number> {
  await reserveCall(tx, call)
  const settlement = settlementOf(call, overrides)
  assert.ok(await tx.settleCall(settlement))
  const { projectId, requestId, windowStartMs } = settlement
  const query = tx.build
    .selectFrom('ledgerTransfers')
    .select('transferId')
    .where('projectId', '=', projectId)
    .where('requestId', '=', requestId)
    .where('windowStartMs', '=', windowStartMs)
  return (await tx.run(query))[0]?.transferId ?? 0
}
