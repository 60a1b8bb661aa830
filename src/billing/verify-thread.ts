import { parentPort, workerData } from 'node:worker_threads'
import { openStore } from '../store/database.ts'
import { verifyBooks } from './verify.ts'

/** The thread of `verify-beside.ts`: one check of the books, then it ends. */
const { dataDir } = workerData as { readonly dataDir: string }
const store = await openStore(dataDir)
try {
  const checks = await verifyBooks(store.db, Date.now())
  parentPort?.postMessage(checks)
} finally {
  await store.close()
}
