import type { DensityCohort } from '../../../src/lib/density/density-kernel.ts'

/** Returns the density of a vector. Sums each distance alone and sorts all of them. */
export function plainDensity(vector: Float32Array, { cohort, neighbours }: DensityCohort): number {
  const distances = Array.from({ length: cohort.length / vector.length }, (_, row) => {
    let sum = 0
    for (const [index, value] of vector.entries())
      sum += (value - (cohort[row * vector.length + index] ?? 0)) ** 2
    return sum
  })
  const nearest = distances.toSorted((a, b) => a - b).slice(0, neighbours)
  return -nearest.reduce((sum, distance) => sum + distance, 0) / neighbours
}
