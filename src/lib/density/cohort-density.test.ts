import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cohortDensity } from './cohort-density.ts'

/** Sums each distance alone, sorts all of them and adds the nearest. */
function plainDensity(vector: Float32Array, cohort: Float32Array, neighbours: number): number {
  const distances = Array.from({ length: cohort.length / vector.length }, (_, row) => {
    let sum = 0
    for (const [index, value] of vector.entries())
      sum += (value - (cohort[row * vector.length + index] ?? 0)) ** 2
    return sum
  })
  const nearest = distances.toSorted((a, b) => a - b).slice(0, neighbours)
  return -nearest.reduce((sum, distance) => sum + distance, 0) / neighbours
}

test('The density is equal to the last bit to that of plain sums and a full sort', () => {
  const value = fc.float({ min: -2, max: 2, noNaN: true })
  const sample = fc
    .record({ size: fc.integer({ min: 1, max: 9 }), rows: fc.integer({ min: 1, max: 13 }) })
    .chain(({ size, rows }) =>
      fc.record({
        vector: fc.array(value, { minLength: size, maxLength: size }),
        cohort: fc.array(value, { minLength: size * rows, maxLength: size * rows }),
        neighbours: fc.integer({ min: 1, max: rows }),
      }),
    )
  fc.assert(
    fc.property(sample, ({ neighbours, ...values }) => {
      const [vector, cohort] = [Float32Array.from(values.vector), Float32Array.from(values.cohort)]
      const expected = plainDensity(vector, cohort, neighbours)
      assert.equal(cohortDensity(vector, { cohort, neighbours }), expected)
    }),
  )
})

test('A cohort with too few or with incomplete rows is rejected', () => {
  const vector = Float32Array.of(1, 2)
  const cohort = Float32Array.of(0, 0, 1, 1)
  assert.equal(cohortDensity(vector, { cohort, neighbours: 2 }), -3)
  for (const wrong of [
    { cohort, neighbours: 3 },
    { cohort: cohort.subarray(1), neighbours: 1 },
  ])
    assert.throws(() => cohortDensity(vector, wrong), /enough, and whole, rows/u)
})
