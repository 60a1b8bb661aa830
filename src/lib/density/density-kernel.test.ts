import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cohortDensity } from './cohort-density.ts'
import { openDensityKernel } from './density-kernel.ts'

test('The kernel returns the same bits as the function, for any number of rows and dimensions', () => {
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
        assert.equal(measureDensity(vector), cohortDensity(vector, cohort))
    }),
  )
})

test('A vector or a cohort of another size is rejected', () => {
  const cohort = { cohort: Float32Array.of(0, 0, 1, 1), neighbours: 2 }
  assert.throws(() => openDensityKernel(cohort, 3), /enough, and whole, rows/u)
  assert.throws(() => openDensityKernel(cohort, 2)(Float32Array.of(1)), /strictly equal/u)
})
