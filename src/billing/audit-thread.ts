import { parentPort, workerData } from 'node:worker_threads'
import { openStore, type Store } from '../store/database.ts'
import { reconcile } from '../store/transfers.ts'
import type { Audit } from './auditor.ts'
import { verifyBooks } from './verify.ts'

/** The thread of `auditor.ts`: one question, then it ends. */
const port = parentPort
const { place, question } = workerData as Audit
const store = await openStore(place)
try {
  const answered = await answer(store)
  port?.postMessage(answered)
} finally {
  await store.close()
}

function answer({ db, read }: Store): Promise<unknown> {
  return question.kind === 'verify'
    ? verifyBooks(db, Date.now())
    : read((reading) => reconcile(reading, question.of))
}
