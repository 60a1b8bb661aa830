import assert from 'node:assert/strict'
import type { TemplateVector } from '../../calibration/score.ts'
import type { Rotation } from './rotation.ts'

/**
 * Faces as points whose plain distance orders them as the score does, for a database that knows
 * distances alone.
 *
 * The score is −|a − b|² − ½r(a) − ½r(b). With one more axis, in which a row b lies at
 * √(½r(b) − floor) and every probe at 0, the squared distance d² is |a − b|² + ½r(b) − floor, and
 * the score is −d² − floor − ½r(a). A rotation of the whole space changes no distance.
 */

/** A row as the database keeps it. */
export type AugmentedRow = {
  /** What is left of the coordinates at half precision. */
  readonly float16: Float16Array
  /** How far from the true point that is, or farther. */
  readonly slack: number
}

export type AugmentedProbe = AugmentedRow & {
  /** The score of a row at this distance or more, less its slack, is this at most. */
  readonly scoreMaxAt: (distanceLessSlack: number) => number
}

/**
 * Below every ½r that models give; one that lies lower is kept at the floor, and its slack says so.
 * Farther down would be safer and coarser: all rows would lie as far from every probe.
 */
const densityFloor = -2

/** Beyond it half precision has no numbers. */
const float16Max = 65_504

/** The database adds up in float32: 1,025 roundings of 2⁻²⁴ each, and twice that. */
const roundingMargin = 2 ** -13

/** @throws AssertionError when a value is beyond half precision; no embedding is near that. */
export function augmentRow({ vector, density }: TemplateVector, rotate: Rotation): AugmentedRow {
  const above = density / 2 - densityFloor
  const point = appendAxis(vector, Math.sqrt(Math.max(0, above)))
  // √(x² + above) ≥ x − √−above: that much nearer the row may be than its point.
  return toHalfPrecision(point, rotate, Math.sqrt(Math.max(0, -above)))
}

export function augmentProbe(
  { vector, density }: TemplateVector,
  rotate: Rotation,
): AugmentedProbe {
  const point = toHalfPrecision(appendAxis(vector, 0), rotate, 0)
  return {
    ...point,
    scoreMaxAt: (distanceLessSlack) => {
      const distance = distanceLessSlack * (1 - roundingMargin) - point.slack
      // Nearer than what was lost nothing is known: below the floor squares are negative.
      if (distance <= 0) return Number.POSITIVE_INFINITY
      return -(distance ** 2) - densityFloor - density / 2
    },
  }
}

function appendAxis(vector: Float32Array, last: number): Float64Array {
  const point = new Float64Array(vector.length + 1)
  point.set(vector)
  point[vector.length] = last
  return point
}

function toHalfPrecision(point: Float64Array, rotate: Rotation, nearer: number): AugmentedRow {
  rotate(point)
  const halves = Float16Array.from(point)
  let lost = 0
  for (const [at, value] of point.entries()) {
    assert.ok(Math.abs(value) <= float16Max, 'the vector is within half precision')
    lost += (value - (halves[at] ?? 0)) ** 2
  }
  // The database keeps slack in float32, and the subtraction is rounded there.
  return { float16: halves, slack: (Math.sqrt(lost) + nearer) * (1 + roundingMargin) }
}
