import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { correctedScore, type TemplateVector } from '../../calibration/score.ts'
import { augmentProbe, augmentRow } from './augmented-vector.ts'
import { createRotation } from './rotation.ts'

/** Pseudo-random numbers about 0, the same ones every time. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
}

/** The distance as a database would compute it: of the halves, added up in float32. */
function distance(a: Float16Array, b: Float16Array): number {
  let sum = 0
  for (const [at, value] of a.entries())
    sum = Math.fround(sum + Math.fround((value - (b[at] ?? 0)) ** 2))
  return Math.sqrt(sum)
}

test('no row scores higher than its point says, however it is rounded or rotated', () => {
  const drawn = fc.record({
    dimensions: fc.integer({ min: 1, max: 513 }),
    seed: fc.integer(),
    sizes: fc.tuple(...Array.from({ length: 2 }, () => fc.constantFrom(1, 0.1, 1e-3, 1e-9, 30, 0))),
    densities: fc.tuple(
      ...Array.from({ length: 2 }, () => fc.double({ min: -9, max: 1, noNaN: true })),
    ),
  })
  fc.assert(
    fc.property(drawn, ({ dimensions, seed, sizes, densities }) => {
      const random = numbers(seed)
      const rotate = createRotation(
        createHash('sha256').update(String(seed)).digest(),
        dimensions + 1,
      )
      const [probe, row] = [0, 1].map((at): TemplateVector => {
        const size = (sizes[at] ?? 1) / Math.sqrt(dimensions)
        const vector = Float32Array.from({ length: dimensions }, () => random() * size)
        return { vector, density: densities[at] ?? 0 }
      })
      assert.ok(probe && row)
      const [from, to] = [augmentProbe(probe, rotate), augmentRow(row, rotate)]
      const bound = from.scoreMaxAt(distance(from.float16, to.float16) - Math.fround(to.slack))
      assert.ok(correctedScore(probe, row) <= bound)
    }),
    { numRuns: 300 },
  )
})

test('of faces as models make them a point says the score to some thousandths', () => {
  const random = numbers(1)
  const rotate = createRotation(createHash('sha256').digest(), 257)
  const faceOf = (): TemplateVector => ({
    vector: Float32Array.from({ length: 256 }, () => random() * 0.16),
    density: -2.4 + random() * 0.3,
  })
  for (let round = 0; round < 200; round++) {
    const [probe, row] = [faceOf(), faceOf()]
    const [from, to] = [augmentProbe(probe, rotate), augmentRow(row, rotate)]
    const bound = from.scoreMaxAt(distance(from.float16, to.float16) - to.slack)
    assert.ok(bound - correctedScore(probe, row) < 0.01)
  }
})

test('what half precision has no numbers for is refused', () => {
  const rotate = createRotation(createHash('sha256').digest(), 3)
  const huge = { vector: Float32Array.of(1e9, 1), density: 0 }
  assert.throws(() => augmentRow(huge, rotate), /half precision/u)
})
