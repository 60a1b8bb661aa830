import { parentPort, workerData } from 'node:worker_threads'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Store } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import { reconcile } from '../store/billing/ledger-transfers.ts'
import type { AuditThreadData } from './audit-runner.ts'
import { auditLedger } from './audit-ledger.ts'

/** The thread of `auditor.ts`: one question, then it ends. */
const port = parentPort
const { location: place, task: question } = workerData as AuditThreadData
const store = await openStore(place)
try {
  const answered = await runAsAllAccounts(() => runAudit(store))
  port?.postMessage(answered)
} finally {
  await store.close()
}

function runAudit({ db, read }: Store): Promise<unknown> {
  return question.kind === 'verify'
    ? auditLedger(db, Date.now())
    : read((reading) => reconcile(reading, question.of))
}
