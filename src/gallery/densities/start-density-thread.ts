import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import type { DensityCohort } from '../../lib/density/cohort-density.ts'
import type { DensityRequest, DensityResponse } from './density-thread.ts'

/** A thread that computes densities, so that the event loop does not wait for them. */
export type DensityThread = AsyncDisposable & {
  /**
   * Returns the densities of vectors of one length, in their order.
   *
   * @throws Error if the thread ended unexpectedly.
   */
  readonly measure: (vectors: readonly Float32Array[]) => Promise<Float64Array>
}

type PendingDensities = {
  readonly resolve: (densities: Float64Array) => void
  readonly reject: (reason: unknown) => void
}

const threadFile = new URL('./density-thread.ts', import.meta.url)

/** Starts the thread. One is enough: it is faster than the event loop that decrypts the templates. */
export function startDensityThread(workerData: DensityCohort): DensityThread {
  const worker = new Worker(threadFile, { name: 'densities', workerData })
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
    measure: async (vectors) => {
      if (endReason !== undefined) throw endReason
      const request = { id: ++lastId, ...concatenate(vectors) }
      worker.postMessage(request, [request.vectors.buffer])
      return new Promise((resolve, reject) => pending.set(request.id, { resolve, reject }))
    },
    [Symbol.asyncDispose]: async () => {
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
