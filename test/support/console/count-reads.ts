import { requireAccountScope } from '../../../src/lib/account-context.ts'
import type { ReadTx } from '../../../src/store/database.ts'
import { startConsole, type TestConsole } from './test-console.ts'

/**
 * A console with the number of transactions that have read its database for an account, and of their
 * rows. Reads of schedules for all accounts are not counted: they occur at any time.
 */
type CountingConsole = {
  readonly testConsole: TestConsole
  readonly readCount: () => number
  readonly rowCount: () => number
}

export async function startCountingConsole(): Promise<CountingConsole> {
  let count = 0
  let rowCount = 0
  const countRows = (tx: ReadTx): ReadTx => ({
    ...tx,
    run: async (query) => {
      const rows = await tx.run(query)
      if (isForAccount()) rowCount += rows.length
      return rows
    },
  })
  const testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: (job) => {
        if (isForAccount()) count += 1
        return store.read((tx) => job(countRows(tx)))
      },
    }),
  })
  return { testConsole, readCount: () => count, rowCount: () => rowCount }
}

function isForAccount(): boolean {
  return requireAccountScope() !== '*'
}
