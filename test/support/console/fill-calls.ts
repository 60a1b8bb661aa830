import { newId } from '../../../src/lib/ids.ts'
import type { Store } from '../../../src/store/database.ts'
import type { NewCallRow } from '../../../src/store/schema.ts'

const freeCall = {
  action: 'svc.detect',
  code: 'OK',
  costMicros: 0n,
  meteredMicros: 0n,
  isReplay: 0,
  transferId: null,
} as const

type CallsToFill = {
  readonly projectId: string
  readonly keyId: string
  readonly count: number
  /** What the nth call decided. */
  readonly decide?: (number: number) => Partial<NewCallRow>
}

/** Logs calls of the last minutes, one per second; the latency of the nth is n milliseconds. */
export async function fillCalls(
  store: Pick<Store, 'write'>,
  { projectId, keyId, count, decide }: CallsToFill,
): Promise<void> {
  const nowMs = Date.now()
  await store.write(async (tx) => {
    for (let number = 1; number <= count; number++)
      await tx.logCall({
        ...freeCall,
        projectId,
        keyId,
        requestId: newId(),
        latencyMs: number,
        atMs: nowMs - number * 1000,
        ...decide?.(number),
      })
  })
}
