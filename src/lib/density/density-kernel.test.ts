import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { plainDensity } from '../../../test/support/vision/plain-density.ts'
import { openDensityKernel } from './density-kernel.ts'

test('The density is equal to the last bit to that of plain sums and a full sort', () => {
  const value = fc.float({ min: -2, max: 2, noNaN: true })
  const sample = fc
    .record({ size: fc.integer({ min: 1, max: 9 }), rows: fc.integer({ min: 1, max: 25 }) })
    .chain(({ size, rows }) =>
      fc.record({
        vectors: fc.array(fc.array(value, { minLength: size, maxLength: size }), {
          minLength: 1,
          maxLength: 3,
        }),
        cohort: fc.array(value, { minLength: size * rows, maxLength: size * rows }),
        neighbours: fc.integer({ min: 1, max: rows }),
      }),
    )
  fc.assert(
    fc.property(sample, ({ vectors, neighbours, ...values }) => {
      const cohort = { cohort: Float32Array.from(values.cohort), neighbours }
      const measureDensity = openDensityKernel(cohort, vectors[0]?.length ?? 0)
      for (const vector of vectors.map((one) => Float32Array.from(one)))
        assert.equal(measureDensity(vector), plainDensity(vector, cohort))
    }),
  )
})

test('The density is the mean of the best scores, not of all scores', () => {
  const cohort = { cohort: Float32Array.of(0, 0, 3, 4, 100, 0), neighbours: 2 }
  assert.equal(openDensityKernel(cohort, 2)(Float32Array.of(0, 0)), -12.5)
})

test('A vector or a cohort of another size is rejected', () => {
  const cohort = { cohort: Float32Array.of(0, 0, 1, 1), neighbours: 2 }
  assert.throws(() => openDensityKernel(cohort, 3), /enough, and whole, rows/u)
  assert.throws(
    () => openDensityKernel({ ...cohort, neighbours: 3 }, 2),
    /enough, and whole, rows/u,
  )
  assert.throws(() => openDensityKernel(cohort, 2)(Float32Array.of(1)), /strictly equal/u)
})
