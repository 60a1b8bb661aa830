import { Worker } from 'node:worker_threads'
import type { StorePlace } from '../store/database.ts'
import type { Reconciled, Reconciliation } from '../store/transfers.ts'
import type { Check } from './verify.ts'

/** Long questions about the books, asked beside the service, which goes on meanwhile. */
export type Auditor = {
  /** Checks all books. Whoever asks while a check runs gets its result. */
  readonly verify: () => Promise<readonly Check[]>
  /** Holds the log of a time against the ledger. */
  readonly reconcile: (of: Reconciled) => Promise<Reconciliation>
}

/** What the thread is told. */
export type Audit = {
  readonly place: StorePlace
  readonly question: { readonly kind: 'verify' } | { readonly kind: 'reconcile'; of: Reconciled }
}

/**
 * Asks in a thread with a connection of its own: hashing every transfer, or joining every call of a
 * month with its charge, takes seconds per million.
 */
export function createAuditor(place: StorePlace): Auditor {
  let checking: Promise<readonly Check[]> | undefined
  return {
    verify: () => {
      const question = { kind: 'verify' } as const
      checking ??= ask<readonly Check[]>({ place, question }).finally(() => {
        checking = undefined
      })
      return checking
    },
    reconcile: (of) => ask<Reconciliation>({ place, question: { kind: 'reconcile', of } }),
  }
}

/** The caller states what its question is answered with: audit-thread.ts is where that is seen. */
function ask<Result>(audit: Audit): Promise<Result> {
  return new Promise((resolve, reject) => {
    const thread = new URL('audit-thread.ts', import.meta.url)
    const worker = new Worker(thread, { workerData: audit })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the audit ended without a result')))
  })
}
