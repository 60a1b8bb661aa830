import { allocate, charge, topUp } from '../../../src/billing/ledger.ts'
import type { CountedCall } from '../../../src/store/gate/hourly-counts.ts'
import type { Tx } from '../../../src/store/tx.ts'
import { nowMs, type StoreFixture } from './store-fixture.ts'

export function countedCallOf(
  { project, keyId }: StoreFixture,
  call: Partial<CountedCall> = {},
): CountedCall {
  const of = {
    keyId,
    projectId: project.projectId,
    requestId: 'R1',
    action: 'svc.detect',
    code: 'OK',
  }
  const free = { latencyMs: 12.345, costMicros: 0n, isReplay: 0, transferId: null } as const
  return { ...of, ...free, atMs: nowMs, ...call }
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

/** A charge with its row in the log. @returns its id. */
export async function chargeCall(tx: Tx, world: StoreFixture, requestId: string): Promise<number> {
  const { projectId } = world.project
  const of = {
    projectId,
    requestId: requestId.toLowerCase(),
    windowStartMs: nowMs,
    action: 'svc.detect',
  }
  const transferId = await charge(tx, { ...of, amountMicros: 1000n, atMs: nowMs + 2 })
  await tx.logCall(countedCallOf(world, { requestId, costMicros: 1000n, transferId }))
  return transferId
}
