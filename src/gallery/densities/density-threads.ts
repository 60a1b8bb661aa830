import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { DensityCohort } from '../../lib/density/cohort-density.ts'
import type { DensityRequest, DensityResponse } from './density-thread.ts'

/** Threads that compute densities, so that the event loop does not wait for them. */
export type DensityThreads = AsyncDisposable & {
  readonly count: number
  /**
   * Returns the densities of vectors of one length, in their order.
   *
   * @throws Error if the thread ended unexpectedly.
   */
  readonly measure: (vectors: readonly Float32Array[]) => Promise<Float64Array>
}

/** More threads would take all cores from the calls. */
const threadsMax = 2

const threadFile = new URL('./density-thread.ts', import.meta.url)

/** Starts the threads with one copy of the cohort in shared memory. */
export function startDensityThreads({ cohort, neighbours }: DensityCohort): DensityThreads {
  const shared = new Float32Array(new SharedArrayBuffer(cohort.byteLength))
  shared.set(cohort)
  const workerData: DensityCohort = { cohort: shared, neighbours }
  const threads = Array.from({ length: Math.min(threadsMax, availableParallelism()) }, (_, index) =>
    startThread(index, workerData),
  )
  let next = 0
  return {
    count: threads.length,
    measure: (vectors) => {
      const thread = threads[next++ % threads.length]
      assert.ok(thread)
      return thread.measure(vectors)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

type PendingDensities = {
  readonly resolve: (densities: Float64Array) => void
  readonly reject: (reason: unknown) => void
}

function startThread(index: number, workerData: DensityCohort) {
  const worker = new Worker(threadFile, { name: `densities ${index}`, workerData })
  const pending = new Map<number, PendingDensities>()
  let lastId = 0
  let endReason: unknown
  const end = (reason: unknown): void => {
    endReason ??= reason
    for (const { reject } of pending.values()) reject(endReason)
    pending.clear()
  }
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`the density thread exited with code ${code}`)))
  worker.on('message', (response: DensityResponse) => {
    const waiting = pending.get(response.id)
    pending.delete(response.id)
    if ('error' in response) waiting?.reject(response.error)
    else waiting?.resolve(response.densities)
  })
  return {
    measure: async (vectors: readonly Float32Array[]): Promise<Float64Array> => {
      if (endReason !== undefined) throw endReason
      const request = { id: ++lastId, ...concatenate(vectors) }
      worker.postMessage(request, [request.vectors.buffer])
      return new Promise((resolve, reject) => pending.set(request.id, { resolve, reject }))
    },
    close: async () => {
      await worker.terminate()
    },
  }
}

function concatenate(vectors: readonly Float32Array[]): Omit<DensityRequest, 'id'> {
  const dimensions = vectors[0]?.length ?? 1
  const all = new Float32Array(vectors.length * dimensions)
  for (const [index, vector] of vectors.entries()) {
    assert.equal(vector.length, dimensions, 'all vectors of a model have the same dimensions')
    all.set(vector, index * dimensions)
  }
  return { vectors: all, dimensions }
}
