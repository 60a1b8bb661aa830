import { Worker } from 'node:worker_threads'
import { createKeyedQueue } from '../lib/limits/keyed-queue.ts'
import type { StoreLocation } from '../store/database.ts'
import type { ReconciliationPeriod, Reconciliation } from '../store/billing/ledger-transfers.ts'
import type { AuditCheck } from './audit-ledger.ts'

/** Runs long ledger queries in a separate thread, so that the service is not blocked. */
export type AuditRunner = ReturnType<typeof createAuditRunner>

/** The input of the audit thread. */
export type AuditThreadData = {
  readonly location: StoreLocation
  readonly task:
    | { readonly kind: 'audit' }
    | { readonly kind: 'reconcile'; readonly period: ReconciliationPeriod }
}

/**
 * Each task runs in a new thread with a separate connection. Hashing all transfers, or joining all
 * calls of a month with their charges, takes seconds per million rows.
 */
export function createAuditRunner(location: StoreLocation) {
  let running: Promise<readonly AuditCheck[]> | undefined
  const accountQueue = createKeyedQueue({
    waitingMax: 4,
    detail: 'The account compares other periods now. Send the request again.',
  })
  return {
    /** Audits the ledger. Concurrent calls share one audit. */
    audit: () => {
      const task = { kind: 'audit' } as const
      running ??= runInThread<readonly AuditCheck[]>({ location, task }).finally(() => {
        running = undefined
      })
      return running
    },

    /**
     * Compares the request log of a period with the ledger. The comparisons of an account wait for each
     * other: a thread for each request would use up the memory and the processors.
     *
     * @throws HttpError 503 if too many are waiting.
     */
    reconcile: (period: ReconciliationPeriod) =>
      accountQueue(period.accountId, () =>
        runInThread<Reconciliation>({ location, task: { kind: 'reconcile', period } }),
      ),
  }
}

/** The caller states the type of the result; audit-thread.ts returns it. */
function runInThread<Result>(workerData: AuditThreadData): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./audit-thread.ts', import.meta.url), { workerData })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the audit thread ended without a result')))
  })
}
