import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/** Templates of other people, and how many of the nearest ones a density is the mean of. */
export type DensityCohort = {
  /** Row by row, each as long as a template. */
  readonly cohort: Float32Array
  readonly neighbours: number
}

/**
 * Returns the mean of the best scores (−distance²) of a vector against the cohort: the r of
 * cross-domain similarity local scaling (Conneau et al. 2018, "Word translation without parallel
 * data"). Some faces are similar to many other people. The density lowers their scores, so that they
 * do not match everyone.
 *
 * Each distance is summed in float64 in the order of the dimensions, so that a density that is
 * computed again is equal to the last bit.
 */
export type MeasureDensity = (vector: Float32Array) => number

const rowsPerBlock = 8
const pageBytes = 65_536

type MeasureDistances = (
  vectorBytes: number,
  blocks: number,
  blockCount: number,
  distances: number,
) => void

/** Copies a cohort to the memory of a kernel, see `density.wat`. */
export function openDensityKernel(
  { cohort, neighbours }: DensityCohort,
  dimensions: number,
): MeasureDensity {
  const rows = cohort.length / dimensions
  assert.ok(Number.isInteger(rows) && rows >= neighbours, 'the cohort has enough, and whole, rows')
  const blockCount = Math.ceil(rows / rowsPerBlock)
  const paddedRows = blockCount * rowsPerBlock
  const vectorBytes = 8 * dimensions
  const distancesAt = vectorBytes
  const blocksAt = Math.ceil((distancesAt + 8 * paddedRows) / 16) * 16
  const blockBytes = 4 * paddedRows * dimensions
  const initial = Math.ceil((blocksAt + blockBytes) / pageBytes)
  const memory = new WebAssembly.Memory({ initial, maximum: initial, shared: true })
  const values = new Float64Array(memory.buffer, 0, dimensions)
  const distances = new Float64Array(memory.buffer, distancesAt, rows)
  fillBlocks(new Float32Array(memory.buffer, blocksAt, paddedRows * dimensions), cohort, dimensions)
  const measureDistances = openKernel(memory)
  return (vector) => {
    assert.equal(vector.length, dimensions)
    values.set(vector)
    measureDistances(vectorBytes, blocksAt, blockCount, distancesAt)
    values.fill(0)
    return densityOfDistances(distances, neighbours)
  }
}

/** Rows of the last block that are not in the cohort stay zero; their distances are not read. */
function fillBlocks(blocks: Float32Array, cohort: Float32Array, dimensions: number): void {
  for (let row = 0; row < cohort.length / dimensions; row++) {
    const first = Math.floor(row / rowsPerBlock) * rowsPerBlock * dimensions + (row % rowsPerBlock)
    for (let index = 0; index < dimensions; index++)
      blocks[first + index * rowsPerBlock] = cohort[row * dimensions + index] ?? 0
  }
}

function densityOfDistances(distances: Float64Array, neighbours: number): number {
  const nearest = new Float64Array(neighbours).fill(Infinity)
  for (const distance of distances) insertSorted(nearest, distance)
  return -nearest.reduce((sum, distance) => sum + distance, 0) / neighbours
}

/** Keeps the smallest distances in rising order. */
function insertSorted(nearest: Float64Array, distance: number): void {
  let position = nearest.length - 1
  if (!(distance < (nearest[position] ?? 0))) return
  for (; position > 0 && distance < (nearest[position - 1] ?? 0); position--)
    nearest[position] = nearest[position - 1] ?? 0
  nearest[position] = distance
}

function openKernel(memory: WebAssembly.Memory): MeasureDistances {
  const module = new WebAssembly.Module(readFileSync(new URL('density.wasm', import.meta.url)))
  const { exports } = new WebAssembly.Instance(module, { densities: { memory } })
  return exports['measureDistances'] as MeasureDistances
}
