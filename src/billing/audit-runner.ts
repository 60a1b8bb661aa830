import { Worker } from 'node:worker_threads'
import type { StoreLocation } from '../store/database.ts'
import type { ReconciliationPeriod, Reconciliation } from '../store/billing/ledger-transfers.ts'
import type { AuditCheck } from './audit-ledger.ts'

/** Long questions about the books, asked beside the service, which goes on meanwhile. */
export type AuditRunner = {
  /** Checks all books. Whoever asks while a check runs gets its result. */
  readonly audit: () => Promise<readonly AuditCheck[]>
  /** Holds the log of a time against the ledger. */
  readonly reconcile: (of: ReconciliationPeriod) => Promise<Reconciliation>
}

/** What the thread is told. */
export type AuditThreadData = {
  readonly location: StoreLocation
  readonly task:
    | { readonly kind: 'verify' }
    | { readonly kind: 'reconcile'; of: ReconciliationPeriod }
}

/**
 * Asks in a thread with a connection of its own: hashing every transfer, or joining every call of a
 * month with its charge, takes seconds per million.
 */
export function createAuditRunner(place: StoreLocation): AuditRunner {
  let checking: Promise<readonly AuditCheck[]> | undefined
  return {
    audit: () => {
      const question = { kind: 'verify' } as const
      checking ??= runInThread<readonly AuditCheck[]>({ location: place, task: question }).finally(
        () => {
          checking = undefined
        },
      )
      return checking
    },
    reconcile: (of) =>
      runInThread<Reconciliation>({ location: place, task: { kind: 'reconcile', of } }),
  }
}

/** The caller states what its question is answered with: audit-thread.ts is where that is seen. */
function runInThread<Result>(audit: AuditThreadData): Promise<Result> {
  return new Promise((resolve, reject) => {
    const thread = new URL('./audit-thread.ts', import.meta.url)
    const worker = new Worker(thread, { workerData: audit })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the audit ended without a result')))
  })
}
