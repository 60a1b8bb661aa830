import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { correctedScore, type TemplateVector } from '../../calibration/similarity.ts'
import { augmentProbe, augmentRow } from './augmented-vector.ts'

/** Returns a generator of pseudo-random numbers in -1..1; a seed always gives the same numbers. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
}

/** Returns the distance as a database computes it: of float16 values, added in float32. */
function distance(a: Float16Array, b: Float16Array): number {
  let sum = 0
  for (const [index, value] of a.entries())
    sum = Math.fround(sum + Math.fround((value - (b[index] ?? 0)) ** 2))
  return Math.sqrt(sum)
}

test('No row scores higher than the limit computed from its rounded vector', () => {
  const sampleArbitrary = fc.record({
    dimensions: fc.integer({ min: 1, max: 513 }),
    seed: fc.integer(),
    sizes: fc.tuple(...Array.from({ length: 2 }, () => fc.constantFrom(1, 0.1, 1e-3, 1e-9, 30, 0))),
    densities: fc.tuple(
      ...Array.from({ length: 2 }, () => fc.double({ min: -9, max: 1, noNaN: true })),
    ),
  })
  fc.assert(
    fc.property(sampleArbitrary, ({ dimensions, seed, sizes, densities }) => {
      const random = pseudoRandom(seed)
      const [probe, row] = [0, 1].map((index): TemplateVector => {
        const size = (sizes[index] ?? 1) / Math.sqrt(dimensions)
        const vector = Float32Array.from({ length: dimensions }, () => random() * size)
        return { vector, density: densities[index] ?? 0 }
      })
      assert.ok(probe && row)
      const [augmentedProbe, augmentedRow] = [augmentProbe(probe), augmentRow(row)]
      const distanceLessSlack =
        distance(augmentedProbe.float16, augmentedRow.float16) - Math.fround(augmentedRow.slack)
      assert.ok(correctedScore(probe, row) <= augmentedProbe.scoreMaxAt(distanceLessSlack))
    }),
    { numRuns: 300 },
  )
})

test('For typical templates the limit exceeds the score by less than 0.01', () => {
  const random = pseudoRandom(1)
  const randomTemplate = (): TemplateVector => ({
    vector: Float32Array.from({ length: 256 }, () => random() * 0.16),
    density: -2.4 + random() * 0.3,
  })
  for (let round = 0; round < 200; round++) {
    const [probe, row] = [randomTemplate(), randomTemplate()]
    const [augmentedProbe, augmentedRow] = [augmentProbe(probe), augmentRow(row)]
    const bound = augmentedProbe.scoreMaxAt(
      distance(augmentedProbe.float16, augmentedRow.float16) - augmentedRow.slack,
    )
    assert.ok(bound - correctedScore(probe, row) < 0.01)
  }
})

test('A value that exceeds half precision is rejected', () => {
  const huge = { vector: Float32Array.of(1e9, 1), density: 0 }
  assert.throws(() => augmentRow(huge), /half precision/u)
})
