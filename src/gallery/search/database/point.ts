import assert from 'node:assert/strict'
import type { Face } from '../../score.ts'
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
export type RowPoint = {
  /** What is left of the coordinates at half precision. */
  readonly halves: Float16Array
  /** How far from the true point that is, or farther. */
  readonly slack: number
}

export type ProbePoint = RowPoint & {
  /** The score of a row at this distance or more, less its slack, is this at most. */
  readonly scoreAtMost: (distanceLessSlack: number) => number
}

/**
 * Below every ½r that models give; one that lies lower is kept at the floor, and its slack says so.
 * Farther down would be safer and coarser: all rows would lie as far from every probe.
 */
const floor = -2

/** Beyond it half precision has no numbers. */
const halfMax = 65_504

/** The database adds up in float32: 1,025 roundings of 2⁻²⁴ each, and twice that. */
const roundingMargin = 2 ** -13

/** @throws AssertionError when a value is beyond half precision; no embedding is near that. */
export function rowPoint({ vector, density }: Face, rotate: Rotation): RowPoint {
  const above = density / 2 - floor
  const point = widened(vector, Math.sqrt(Math.max(0, above)))
  // √(x² + above) ≥ x − √−above: that much nearer the row may be than its point.
  return halved(point, rotate, Math.sqrt(Math.max(0, -above)))
}

export function probePoint({ vector, density }: Face, rotate: Rotation): ProbePoint {
  const point = halved(widened(vector, 0), rotate, 0)
  return {
    ...point,
    scoreAtMost: (distanceLessSlack) => {
      const distance = distanceLessSlack * (1 - roundingMargin) - point.slack
      // Nearer than what was lost nothing is known: below the floor squares are negative.
      if (distance <= 0) return Number.POSITIVE_INFINITY
      return -(distance ** 2) - floor - density / 2
    },
  }
}

function widened(vector: Float32Array, last: number): Float64Array {
  const point = new Float64Array(vector.length + 1)
  point.set(vector)
  point[vector.length] = last
  return point
}

function halved(point: Float64Array, rotate: Rotation, nearer: number): RowPoint {
  rotate(point)
  const halves = Float16Array.from(point)
  let lost = 0
  for (const [at, value] of point.entries()) {
    assert.ok(Math.abs(value) <= halfMax, 'the vector is within half precision')
    lost += (value - (halves[at] ?? 0)) ** 2
  }
  // The database keeps slack in float32, and the subtraction is rounded there.
  return { halves, slack: (Math.sqrt(lost) + nearer) * (1 + roundingMargin) }
}
