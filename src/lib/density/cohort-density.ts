import assert from 'node:assert/strict'

/** Templates of other people, and how many of the nearest ones a density is the mean of. */
export type DensityCohort = {
  /** Row by row, each as long as a template. */
  readonly cohort: Float32Array
  readonly neighbours: number
}

/**
 * Returns the mean of the best scores (−distance²) of `vector` against the cohort: the r of
 * cross-domain similarity local scaling (Conneau et al. 2018, "Word translation without parallel
 * data"). Some faces are similar to many other people. The density lowers their scores, so that they
 * do not match everyone.
 *
 * Each distance is summed in float64 in the order of the dimensions, so that a density that is
 * computed again is equal to the last bit. Four rows are summed side by side: one sum alone would
 * wait for each of its additions.
 */
export function cohortDensity(vector: Float32Array, { cohort, neighbours }: DensityCohort): number {
  const size = vector.length
  const rows = cohort.length / size
  assert.ok(Number.isInteger(rows) && rows >= neighbours, 'the cohort has enough, and whole, rows')
  const distances = new Float64Array(rows)
  let row = 0
  for (; row + 4 <= rows; row += 4) measureFourRows(distances, row, vector, cohort)
  for (; row < rows; row++) distances[row] = squaredDistance(vector, cohort, row * size)
  return densityOfDistances(distances, neighbours)
}

/** Returns the density for the squared distances to all rows of the cohort. */
export function densityOfDistances(distances: Float64Array, neighbours: number): number {
  const nearest = new Float64Array(neighbours).fill(Infinity)
  for (const distance of distances) insertSorted(nearest, distance)
  return -nearest.reduce((sum, distance) => sum + distance, 0) / neighbours
}

function measureFourRows(
  distances: Float64Array,
  row: number,
  vector: Float32Array,
  cohort: Float32Array,
): void {
  const size = vector.length
  const first = row * size
  const [second, third, fourth] = [first + size, first + 2 * size, first + 3 * size]
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let index = 0; index < size; index++) {
    const value = vector[index] ?? 0
    const inFirst = value - (cohort[first + index] ?? 0)
    const inSecond = value - (cohort[second + index] ?? 0)
    const inThird = value - (cohort[third + index] ?? 0)
    const inFourth = value - (cohort[fourth + index] ?? 0)
    a += inFirst * inFirst
    b += inSecond * inSecond
    c += inThird * inThird
    d += inFourth * inFourth
  }
  distances.set([a, b, c, d], row)
}

function squaredDistance(vector: Float32Array, cohort: Float32Array, offset: number): number {
  let sum = 0
  for (let index = 0; index < vector.length; index++)
    sum += ((vector[index] ?? 0) - (cohort[offset + index] ?? 0)) ** 2
  return sum
}

/** Keeps the smallest distances in rising order. */
function insertSorted(nearest: Float64Array, distance: number): void {
  let position = nearest.length - 1
  if (!(distance < (nearest[position] ?? 0))) return
  for (; position > 0 && distance < (nearest[position - 1] ?? 0); position--)
    nearest[position] = nearest[position - 1] ?? 0
  nearest[position] = distance
}
