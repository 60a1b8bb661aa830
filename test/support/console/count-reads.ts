import { startConsole, type TestConsole } from './test-console.ts'

/** A console with the number of transactions that have read its database. */
type CountingConsole = { readonly testConsole: TestConsole; readonly readCount: () => number }

export async function startCountingConsole(): Promise<CountingConsole> {
  let count = 0
  const testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: (job) => {
        count += 1
        return store.read(job)
      },
    }),
  })
  return { testConsole, readCount: () => count }
}
