import assert from 'node:assert/strict'
import { type Transferable, Worker } from 'node:worker_threads'
import type { Log } from '../../../lib/log.ts'
import type { PackedRows } from '../load/packed-rows.ts'
import { createSearchMemory } from '../scan/shared-memory.ts'
import type { ScoredSubject } from '../scored-subject.ts'
import type { GalleryIndexQuery, GalleryIndexState, GalleryLoad } from './gallery-indexes.ts'
import type { PackedChanges } from './index-change.ts'

/** The threads of the search: one index thread processes requests, the others help it to scan. */
export type SearchThreads = {
  /** Sends a request to the index thread, which processes requests in order. */
  readonly send: <Kind extends IndexRequest['kind']>(
    request: Extract<IndexRequest, { kind: Kind }>,
    transfer?: Transferable[],
  ) => Promise<IndexResponses[Kind]>
  readonly close: () => Promise<void>
}

const indexThread = new URL('./index-thread.ts', import.meta.url)
const scanThread = new URL('./scan-thread.ts', import.meta.url)

type PendingRequest = {
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Starts `count` threads with the first request: a server without templates needs no threads. If one
 * of them ends unexpectedly (out of memory, a bug), the index is lost: the error is logged, and all
 * pending and later requests reject.
 */
export function openSearchThreads(count: number, log: Pick<Log, 'info' | 'error'>): SearchThreads {
  let threads: SearchThreads | undefined
  return {
    send: (request, transfer) =>
      (threads ??= startSearchThreads(count, log)).send(request, transfer),
    close: () => (threads ??= closedThreads).close(),
  }
}

/** Replaces the threads of a search that is closed before its first request. */
const closedThreads: SearchThreads = {
  send: () => Promise.reject(new Error('the search is closed')),
  close: () => Promise.resolve(),
}

function startSearchThreads(count: number, log: Pick<Log, 'info' | 'error'>): SearchThreads {
  const workers = startWorkers(count)
  const [indexWorker] = workers
  assert.ok(indexWorker)
  const pendingRequests = new Map<number, PendingRequest>()
  let lastId = 0
  let closeReason: Error | undefined

  const rejectPending = (reason: Error): void => {
    closeReason ??= reason
    for (const { reject } of pendingRequests.values()) reject(closeReason)
    pendingRequests.clear()
  }
  const fail = (error: unknown): void => {
    if (closeReason) return
    log.error({ err: error }, 'a search thread ended; the search index is lost')
    rejectPending(new Error('the search index is lost; restart the server', { cause: error }))
    for (const worker of workers) void worker.terminate()
  }
  for (const worker of workers) {
    worker.on('error', fail)
    worker.on('exit', (code) => fail(new Error(`the thread exited with code ${code}`)))
  }
  indexWorker.on('message', (response: ResponseMessage) => {
    const pending = pendingRequests.get(response.id)
    pendingRequests.delete(response.id)
    if ('error' in response) pending?.reject(response.error)
    else pending?.resolve(response.value as never)
  })
  log.info({ threads: count }, 'search threads started')
  return {
    send: (request, transfer) => {
      if (closeReason) return Promise.reject(closeReason)
      const id = ++lastId
      indexWorker.postMessage({ id, request }, transfer)
      return new Promise((resolve, reject) => pendingRequests.set(id, { resolve, reject }))
    },
    close: async () => {
      rejectPending(new Error('the search is closed'))
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function startWorkers(count: number): Worker[] {
  const memory = createSearchMemory()
  return Array.from({ length: count }, (_, threadIndex) => {
    const workerData: SearchThreadData = { memory, threadIndex, helperCount: count - 1 }
    return threadIndex === 0
      ? new Worker(indexThread, { name: 'search index', workerData })
      : new Worker(scanThread, { name: `search scan ${threadIndex}`, workerData })
  })
}

/** A request to the index thread. */
export type IndexRequest =
  | { readonly kind: 'apply'; readonly galleryId: string; readonly packed: PackedChanges }
  | {
      readonly kind: 'load'
      readonly galleryId: string
      readonly packed: readonly PackedRows[]
      readonly load: GalleryLoad
    }
  | { readonly kind: 'search'; readonly galleryId: string; readonly query: GalleryIndexQuery }
  | { readonly kind: 'drop'; readonly galleryId: string }

/** Kind of request → value of the response. */
export type IndexResponses = {
  readonly apply: GalleryIndexState
  readonly load: GalleryIndexState
  readonly search: readonly ScoredSubject[]
  readonly drop: void
}

export type RequestMessage = { readonly id: number; readonly request: IndexRequest }

export type ResponseMessage =
  | { readonly id: number; readonly value: IndexResponses[keyof IndexResponses] }
  | { readonly id: number; readonly error: unknown }

/** The start data of each search thread. */
export type SearchThreadData = {
  readonly memory: WebAssembly.Memory
  /** 0 is the index thread; the others help it to scan. */
  readonly threadIndex: number
  readonly helperCount: number
}
