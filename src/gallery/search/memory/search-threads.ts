import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import type { Transferable } from 'node:worker_threads'
import type { Log } from '../../../lib/log.ts'
import { createSearchMemory } from '../scan/shared-memory.ts'
import type {
  ResponseMessage,
  IndexResponses,
  IndexRequest,
  SearchThreadData,
} from './thread-messages.ts'

/** The threads of the search: one owns the index and answers, the others help it to scan. */
export type SearchThreads = {
  /** Asks the owner; questions are answered in the order in which they were asked. */
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
 * Starts `count` threads. If one of them dies (out of memory, a bug), the index is gone with it:
 * what is asked then and later rejects, and the log says why.
 */
export function startSearchThreads(count: number, log: Pick<Log, 'info' | 'error'>): SearchThreads {
  const memory = createSearchMemory()
  const start = (seat: number): Worker =>
    new Worker(seat === 0 ? indexThread : scanThread, {
      name: seat === 0 ? 'search index' : `search scan ${seat}`,
      workerData: { memory, threadIndex: seat, helperCount: count - 1 } satisfies SearchThreadData,
    })
  const workers = Array.from({ length: count }, (_, seat) => start(seat))
  const [owner] = workers
  assert.ok(owner)
  const waiting = new Map<number, PendingRequest>()
  let lastId = 0
  let end: Error | undefined

  const finish = (reason: Error): void => {
    end ??= reason
    for (const { reject } of waiting.values()) reject(end)
    waiting.clear()
  }
  const lose = (error: unknown): void => {
    if (end) return
    log.error({ err: error }, 'a thread of the search was lost, and the index with it')
    finish(new Error('the search has lost its index', { cause: error }))
    for (const worker of workers) void worker.terminate()
  }
  for (const worker of workers) {
    worker.on('error', lose)
    worker.on('exit', (code) => lose(new Error(`the thread exited with ${code}`)))
  }
  owner.on('message', (answered: ResponseMessage) => {
    const asker = waiting.get(answered.id)
    waiting.delete(answered.id)
    if ('error' in answered) asker?.reject(answered.error)
    else asker?.resolve(answered.value as never)
  })
  log.info({ threads: count }, 'the search is open')
  return {
    send: (request, transfer) => {
      if (end) return Promise.reject(end)
      const id = ++lastId
      owner.postMessage({ id, request }, transfer)
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
    },
    close: async () => {
      finish(new Error('the search is closed'))
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}
