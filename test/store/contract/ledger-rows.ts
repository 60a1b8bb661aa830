import { noDecision } from '../../../src/lib/observability/call-decision.ts'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import type { CountedCall } from '../../../src/store/gate/hourly-counts.ts'
import type { SettlementInput } from '../../../src/store/gate/statements.ts'
import type { Tx } from '../../../src/store/database.ts'
import * as calls from '../../support/billing/charge-call.ts'
import { nowMs, type StoreFixture } from './store-fixture.ts'

export function countedCallOf(
  { project, keyId }: StoreFixture,
  call: Partial<CountedCall> = {},
): CountedCall {
  const identity = {
    keyId,
    projectId: project.projectId,
    requestId: 'R1',
    action: 'svc.detect',
    code: 'OK',
  }
  const unbilled = {
    latencyMs: 12.345,
    costMicros: 0n,
    meteredMicros: 0n,
    isReplay: 0,
    transferId: null,
    ...noDecision,
  } as const
  return { ...identity, ...unbilled, atMs: nowMs, ...call }
}

export async function fundProject(
  { store, accountId, project }: StoreFixture,
  amountMicros: bigint,
): Promise<void> {
  await store.runExclusive(async ({ tx }) => {
    await topUp(tx, accountId, amountMicros * 2n, nowMs)
    await allocate(tx, { accountId, projectId: project.projectId }, amountMicros, nowMs + 1)
  })
}

/** Charges a call and logs it. @returns the id of the charge. */
export function chargeCall(
  tx: Tx,
  { project, keyId }: StoreFixture,
  requestId: string,
  overrides: Partial<SettlementInput> = {},
): Promise<number> {
  const { projectId } = project
  const call = { projectId, keyId, requestId, action: 'svc.detect', windowStartMs: nowMs }
  return calls.chargeCall(tx, { ...call, amountMicros: 1000n, nowMs: nowMs + 2 }, overrides)
}
