import type { Store } from '../../../src/store/database.ts'

/**
 * The clock of rate limits and deadlines, which stands still until a test advances it: no token is
 * added and no call expires, however long the machine takes.
 */
export type TestSteadyClock = {
  readonly advance: (ms: number) => void
  /** Replaces the clock of a store. */
  readonly wrapStore: (store: Store) => Store
}

export function createTestSteadyClock(): TestSteadyClock {
  let nowUs = 1_000_000_000
  return {
    advance: (ms) => void (nowUs += ms * 1000),
    wrapStore: (store) => ({ ...store, steadyClock: () => nowUs }),
  }
}
