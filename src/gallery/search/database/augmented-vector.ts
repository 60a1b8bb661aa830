import assert from 'node:assert/strict'
import type { TemplateVector } from '../../calibration/similarity.ts'

/**
 * Converts templates to vectors whose Euclidean distance orders them as the score does. The
 * database can only compute distances.
 *
 * The score is −|a − b|² − ½r(a) − ½r(b), where r is the density. The vectors get one more axis: a
 * row b has the coordinate √(½r(b) − floor) on it, and every probe has 0. The squared distance d²
 * is then |a − b|² + ½r(b) − floor, and the score is −d² − floor − ½r(a).
 */

/**
 * Lower than every ½r that the models return. A lower value is stored as the floor, and its slack
 * includes the difference. A lower floor would be safer but less precise: all rows would be equally
 * far from every probe.
 */
const densityFloor = -2

/** The largest number that half precision can represent. */
const float16Max = 65_504

/** The database adds in float32: 1,025 roundings of 2⁻²⁴ each. The margin is twice their sum. */
const roundingMargin = 2 ** -13

/**
 * Returns a row as the database stores it.
 *
 * @throws AssertionError if a value exceeds half precision. Embeddings are far below that.
 */
export function augmentRow({ vector, density }: TemplateVector) {
  const aboveFloor = density / 2 - densityFloor
  const augmented = appendAxis(vector, Math.sqrt(Math.max(0, aboveFloor)))
  // √(x² + aboveFloor) ≥ x − √−aboveFloor: the row may be this much nearer than its vector.
  return toHalfPrecision(augmented, Math.sqrt(Math.max(0, -aboveFloor)))
}

export function augmentProbe({ vector, density }: TemplateVector) {
  const augmented = toHalfPrecision(appendAxis(vector, 0), 0)
  return {
    ...augmented,
    /** Returns the highest score that a row can have at this distance (less its slack) or more. */
    scoreMaxAt: (distanceLessSlack: number): number => {
      const distance = distanceLessSlack * (1 - roundingMargin) - augmented.slack
      // A distance below the rounding error gives no limit.
      if (distance <= 0) return Number.POSITIVE_INFINITY
      return -(distance ** 2) - densityFloor - density / 2
    },
  }
}

function appendAxis(vector: Float32Array, coordinate: number): Float64Array {
  const augmented = new Float64Array(vector.length + 1)
  augmented.set(vector)
  augmented[vector.length] = coordinate
  return augmented
}

/** `slack` is an upper limit of the distance between the rounded and the true vector. */
function toHalfPrecision(augmented: Float64Array, extraSlack: number) {
  const float16 = Float16Array.from(augmented)
  let squaredError = 0
  for (const [index, value] of augmented.entries()) {
    assert.ok(Math.abs(value) <= float16Max, 'the vector is within half precision')
    squaredError += (value - (float16[index] ?? 0)) ** 2
  }
  // The database stores slack in float32 and rounds the subtraction.
  return { float16, slack: (Math.sqrt(squaredError) + extraSlack) * (1 + roundingMargin) }
}
