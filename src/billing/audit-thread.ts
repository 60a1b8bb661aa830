/** The thread of `audit-runner.ts`: runs one task and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { runAsAllAccounts } from '../lib/account-context.ts'
import type { Store } from '../store/database.ts'
import { openStore } from '../store/open-store.ts'
import { reconcile } from '../store/billing/ledger-transfers.ts'
import type { AuditThreadData } from './audit-runner.ts'
import { auditLedger } from './audit-ledger.ts'

const port = parentPort
const { location, task } = workerData as AuditThreadData
const store = await openStore(location)
try {
  port?.postMessage(await runAsAllAccounts(() => runTask(store)))
} finally {
  await store.close()
}

function runTask({ db, read }: Store): Promise<unknown> {
  return task.kind === 'audit'
    ? auditLedger(db, Date.now())
    : read((reading) => reconcile(reading, task.period))
}
