import { meanOf, type Point, applyTransform, type AffineTransform } from '../../image/geometry.ts'
import { shrinkFactor } from '../../image/pyramid.ts'
import { challengeLimits } from './challenge-limits.ts'
import { readPoints, type ChallengePoints } from './challenge-points.ts'
import type { ChallengeFacts, ChallengeStep } from './challenge-judgement.ts'
import { isTurn, type HeadMovement } from './judge-steps.ts'

/** How a turned face differs from a picture of the first face that was turned. */
type FaceRelief = {
  /**
   * Root mean square of the distances of nose, nostrils, chin and forehead from the plane of eyes,
   * brows and mouth, in eye distances.
   */
  readonly residual: number
  /**
   * How far the base of the nose is in front of that plane, in eye distances, plus the logarithm of
   * the width that the face keeps, relative to that of a plane turned by the same angle. A picture
   * has neither. A bent picture has a little of the first, but must be turned much further than the
   * head that it pretends to show, and becomes too narrow.
   */
  readonly depth: number
}

/**
 * Whether the movements are those of a picture and not of a head. Each movement must have the depth
 * of a head; two or more must also have it in the mean, which varies less than one measurement.
 */
export function isFlat(frames: readonly ChallengeFacts[], movements: readonly HeadMovement[]) {
  const [first] = frames
  if (!first || movements.length === 0) return false
  const margins: number[] = []
  for (const { step, imageIndex } of movements) {
    const limits = isTurn(step) ? challengeLimits.turn : challengeLimits.look
    const { residual, depth } = measureRelief(first, frames[imageIndex] ?? first, step)
    if (residual < limits.residualMin || depth < limits.depthMin) return true
    margins.push(depth - limits.depthMin)
  }
  const mean = margins.reduce((sum, margin) => sum + margin, 0) / margins.length
  return movements.length > 1 && mean < challengeLimits.depthMarginMin
}

/** Compares the points of a turned face with those of the first. */
export function measureRelief(
  first: ChallengeFacts,
  turned: ChallengeFacts,
  step: ChallengeStep,
): FaceRelief {
  const from = readPoints(first)
  const to = readPoints(turned)
  const plane = fitAffine(from.plane, to.plane)
  const unit = shrinkFactor(plane) * eyeDistance(from)
  const distancesOf = (points: readonly Point[], actual: readonly Point[]): Point[] =>
    points.map((point, index) => {
      const expected = applyTransform(plane, point)
      const { x, y } = actual[index] ?? expected
      return { x: (x - expected.x) / unit, y: (y - expected.y) / unit }
    })
  const relief = distancesOf(from.relief, to.relief)
  const change = isTurn(step) ? turned.yaw - first.yaw : turned.pitch - first.pitch
  const radians = (Math.min(Math.abs(change), angleMax) * Math.PI) / 180
  const noseShift = shiftTowards(step, meanOf(distancesOf(from.noseBase, to.noseBase)), to)
  const keptWidth = scaleRatio(fitAffine(from.all, to.all)) / Math.cos(radians)
  return {
    residual: Math.sqrt(relief.reduce((sum, { x, y }) => sum + x * x + y * y, 0) / relief.length),
    depth: noseShift / Math.sin(radians) + Math.log(Math.max(keptWidth, Number.EPSILON)),
  }
}

/** Degrees. Beyond it, the mesh of a real face is unreliable, and a wrong angle must not help. */
const angleMax = 45

/** Returns the part of `shift` in the direction in which the nose moves, for a head without roll. */
function shiftTowards(step: ChallengeStep, shift: Point, { eyes }: ChallengePoints): number {
  const [left = { x: 0, y: 0 }, right = { x: 1, y: 0 }] = eyes
  const roll = Math.atan2(right.y - left.y, right.x - left.x)
  const across = shift.x * Math.cos(roll) + shift.y * Math.sin(roll)
  const down = shift.y * Math.cos(roll) - shift.x * Math.sin(roll)
  const towards = { turnLeft: across, turnRight: -across, lookUp: -down, lookDown: down }
  return towards[step]
}

function eyeDistance({ eyes }: ChallengePoints): number {
  const [left = { x: 0, y: 0 }, right = { x: 1, y: 0 }] = eyes
  return Math.hypot(right.x - left.x, right.y - left.y)
}

/**
 * Returns the affine transform that maps `from` closest to `to` in the least-squares sense. It is
 * what the camera sees of a plane that turns, apart from its perspective.
 *
 * @throws RangeError if the points are on one line.
 */
function fitAffine(from: readonly Point[], to: readonly Point[]): AffineTransform {
  const fromMean = meanOf(from)
  const toMean = meanOf(to)
  const sums = { xx: 0, xy: 0, yy: 0, xu: 0, yu: 0, xv: 0, yv: 0 }
  for (const [index, point] of from.entries()) {
    const x = point.x - fromMean.x
    const y = point.y - fromMean.y
    const u = (to[index]?.x ?? 0) - toMean.x
    const v = (to[index]?.y ?? 0) - toMean.y
    sums.xx += x * x
    sums.xy += x * y
    sums.yy += y * y
    sums.xu += x * u
    sums.yu += y * u
    sums.xv += x * v
    sums.yv += y * v
  }
  const determinant = sums.xx * sums.yy - sums.xy ** 2
  if (!(determinant > 0)) throw new RangeError('the points are on one line')
  const a = (sums.xu * sums.yy - sums.yu * sums.xy) / determinant
  const b = (sums.yu * sums.xx - sums.xu * sums.xy) / determinant
  const d = (sums.xv * sums.yy - sums.yv * sums.xy) / determinant
  const e = (sums.yv * sums.xx - sums.xv * sums.xy) / determinant
  const c = toMean.x - a * fromMean.x - b * fromMean.y
  const f = toMean.y - d * fromMean.x - e * fromMean.y
  return { a, b, c, d, e, f }
}

/** Returns the smaller of the two scales of a transform, divided by the larger: 1 keeps the shape. */
function scaleRatio({ a, b, d, e }: AffineTransform): number {
  const even = Math.hypot((a + e) / 2, (d - b) / 2)
  const odd = Math.hypot((a - e) / 2, (d + b) / 2)
  return Math.abs(even - odd) / (even + odd)
}
