/** A thread that computes densities: requests and responses in the order of the requests. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import type { DensityCohort } from '../../lib/density/cohort-density.ts'
import { openDensityKernel, type MeasureDensity } from '../../lib/density/density-kernel.ts'

/** Vectors of `dimensions` values each, concatenated. */
export type DensityRequest = {
  readonly id: number
  readonly vectors: Float32Array<ArrayBuffer>
  readonly dimensions: number
}

/** The densities, in the order of the vectors. */
export type DensityResponse = { readonly id: number } & (
  | { readonly densities: Float64Array }
  | { readonly error: unknown }
)

const port = parentPort
assert.ok(port, 'this module must run as a worker thread')
const cohort = workerData as DensityCohort
/** Number of dimensions → the kernel for them. All vectors of a model have the same number. */
const kernels = new Map<number, MeasureDensity>()

port.on('message', ({ id, vectors, dimensions }: DensityRequest) => {
  let response: DensityResponse
  try {
    response = { id, densities: densitiesOf(vectors, dimensions) }
  } catch (error) {
    response = { id, error }
  }
  // Vectors are biometric data, so they are zeroed.
  vectors.fill(0)
  port.postMessage(response)
})

function densitiesOf(vectors: Float32Array, dimensions: number): Float64Array {
  const measureDensity = kernels.get(dimensions) ?? openDensityKernel(cohort, dimensions)
  kernels.set(dimensions, measureDensity)
  return Float64Array.from({ length: vectors.length / dimensions }, (_, index) =>
    measureDensity(vectors.subarray(index * dimensions, (index + 1) * dimensions)),
  )
}
