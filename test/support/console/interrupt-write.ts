import type { Store } from '../../../src/store/database.ts'

/**
 * Returns a store whose next exclusive transaction runs after a job that a test sets: for a change
 * that another user commits between the checks of a request and its write.
 */
export function createInterruptedStore() {
  let interrupt: (() => Promise<unknown>) | undefined
  return {
    wrapStore: (store: Store): Store => ({
      ...store,
      runExclusive: async (job) => {
        const run = interrupt
        interrupt = undefined
        await run?.()
        return store.runExclusive(job)
      },
    }),
    beforeNextWrite: (job: () => Promise<unknown>) => void (interrupt = job),
  }
}
