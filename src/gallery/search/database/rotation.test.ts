import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createRotation, seedBytes } from './rotation.ts'

const seedOf = (text: string): Buffer => createHash('sha256').update(text).digest()

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
}

/** Images of the axes: the columns of the matrix. */
function columnsOf(seed: Buffer, dimensions: number): Float64Array[] {
  const rotate = createRotation(seed, dimensions)
  return Array.from({ length: dimensions }, (_, axis) => {
    const column = new Float64Array(dimensions)
    column[axis] = 1
    rotate(column)
    return column
  })
}

test('a rotation keeps lengths and inner products, in any number of dimensions', () => {
  const drawn = fc.tuple(fc.integer({ min: 1, max: 520 }), fc.string())
  fc.assert(
    fc.property(drawn, ([dimensions, text]) => {
      const rotate = createRotation(seedOf(text), dimensions)
      const random = (): number => Math.random() - 0.5
      const [a, b] = [0, 1].map(() => Float64Array.from({ length: dimensions }, random))
      assert.ok(a && b)
      const before = [dot(a, a), dot(b, b), dot(a, b)]
      rotate(a)
      rotate(b)
      const after = [dot(a, a), dot(b, b), dot(a, b)]
      for (const [at, value] of after.entries())
        assert.ok(Math.abs(value - (before[at] ?? 0)) < 1e-12 * dimensions)
    }),
    { numRuns: 50 },
  )
})

test('a seed gives one rotation, and another seed one that has nothing to do with it', () => {
  const [one, same, other] = ['a', 'a', 'b'].map((text) => columnsOf(seedOf(text), 257))
  assert.deepEqual(one, same)
  const alike = one?.map((column, at) => dot(column, other?.[at] ?? column)) ?? []
  assert.ok(Math.hypot(...alike) / Math.sqrt(257) < 0.1)
})

test('rotations are drawn uniformly: the moments of their entries are those of Haar’s measure', () => {
  const count = 4000
  const sums = { trace: 0, traceSquared: 0, corner: 0, fourth: 0, determinant: 0 }
  for (let draw = 0; draw < count; draw++) {
    const [a, b, c] = columnsOf(randomBytes(seedBytes), 3)
    assert.ok(a && b && c)
    const [a0 = 0, a1 = 0, a2 = 0] = a
    const [b0 = 0, b1 = 0, b2 = 0] = b
    const [c0 = 0, c1 = 0, c2 = 0] = c
    const trace = a0 + b1 + c2
    sums.trace += trace
    sums.traceSquared += trace ** 2
    sums.corner += a0 ** 2
    sums.fourth += c2 ** 4
    sums.determinant +=
      a0 * (b1 * c2 - b2 * c1) - b0 * (a1 * c2 - a2 * c1) + c0 * (a1 * b2 - a2 * b1)
  }
  // Of orthogonal 3 × 3 matrices; every limit is six standard errors or more.
  const means = Object.values(sums).map((sum) => sum / count)
  for (const [at, expected] of [0, 1, 1 / 3, 1 / 5, 0].entries())
    assert.ok(Math.abs((means[at] ?? 1) - expected) < 0.15, `moment ${at} is ${means[at]}`)
})
