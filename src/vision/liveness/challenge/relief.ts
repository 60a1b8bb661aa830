import { meanOf, applyTransform, type AffineTransform, type Point } from '../../image/geometry.ts'
import { shrinkFactor } from '../../image/pyramid.ts'
import { challengeLimits } from './challenge-limits.ts'
import { readPoints, type ChallengePoints } from './challenge-points.ts'
import type { ChallengeFacts } from './challenge-judgement.ts'
import { fitAffine } from './fit-affine.ts'
import type { HeadMovement } from './judge-steps.ts'
import { isTurn, type ChallengeStep } from '../../../lib/liveness/challenge-steps.ts'

/** How a turned face differs from a picture of the first face that was turned. */
export type FaceRelief = ReturnType<typeof measureRelief>

/** The log-odds of a head for each unit of a measurement, and without any. */
export type SolidWeights = Readonly<Record<keyof FaceRelief | 'bias', number>>

/** One set of weights for turns to a side, and one for looks up or down. */
export type SolidFit = Readonly<Record<'turn' | 'look', { readonly weights: SolidWeights }>>

/**
 * Whether the movements are those of a picture and not of a head. Each movement must show some depth;
 * two or more must show more in the mean, which varies less than one measurement.
 */
export function isFlat(
  frames: readonly ChallengeFacts[],
  movements: readonly HeadMovement[],
  fit: SolidFit = challengeLimits,
): boolean {
  const [first] = frames
  if (!first || movements.length === 0) return false
  const { movementMin, meanMin } = challengeLimits.solid
  const evidence: number[] = []
  for (const { step, imageIndices } of movements) {
    const kind = isTurn(step) ? 'turn' : 'look'
    const reliefs = imageIndices.map((index) => measureRelief(first, frames[index] ?? first, step))
    const { residualMin, noseDepthMin } = challengeLimits[kind]
    const isPlane = ({ residual, noseDepth }: FaceRelief): boolean =>
      residual < residualMin || noseDepth < noseDepthMin
    if (reliefs.some(isPlane)) return true
    evidence.push(meanValue(reliefs.map((relief) => solidEvidence(relief, fit[kind].weights))))
  }
  return (
    Math.min(...evidence) < movementMin || (evidence.length > 1 && meanValue(evidence) < meanMin)
  )
}

function meanValue(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Returns the log-odds of a head against a picture, for one frame, if both are equally frequent. */
export function solidEvidence(relief: FaceRelief, weights: SolidWeights): number {
  return (
    weights.bias +
    weights.residual * relief.residual +
    weights.noseDepth * relief.noseDepth +
    weights.keptWidth * relief.keptWidth
  )
}

/** Compares the points of a turned face with those of the first. */
export function measureRelief(first: ChallengeFacts, turned: ChallengeFacts, step: ChallengeStep) {
  const from = readPoints(first)
  const to = readPoints(turned)
  const plane = fitAffine(from.plane, to.plane)
  const unit = shrinkFactor(plane) * eyeDistance(from)
  const shiftsOf = (points: readonly Point[], actual: readonly Point[]): Point[] =>
    points.map((point, index) => {
      const expected = applyTransform(plane, point)
      const { x, y } = actual[index] ?? expected
      return { x: (x - expected.x) / unit, y: (y - expected.y) / unit }
    })
  const change = isTurn(step) ? turned.yaw - first.yaw : turned.pitch - first.pitch
  const radians = (Math.min(Math.abs(change), angleMax) * Math.PI) / 180
  const keptWidth = scaleRatio(fitAffine(from.all, to.all)) / Math.cos(radians)
  const noseShift = shiftTowards(step, meanOf(shiftsOf(from.noseBase, to.noseBase)), to)
  return {
    /**
     * Root mean square of the distances of nose, nostrils, chin and forehead from the plane of eyes,
     * brows and mouth, in eye distances.
     */
    residual: rootMeanSquare(shiftsOf(from.relief, to.relief)),
    /** How far the base of the nose is in front of that plane, in eye distances. A picture has none. */
    noseDepth: noseShift / Math.sin(radians),
    /**
     * The logarithm of the width that all points keep, relative to that of a plane turned by the same
     * angle. A bent picture must be turned much further than the head that it pretends to show, and
     * becomes too narrow.
     */
    keptWidth: Math.log(Math.max(keptWidth, Number.EPSILON)),
  }
}

function rootMeanSquare(shifts: readonly Point[]): number {
  return Math.sqrt(shifts.reduce((sum, { x, y }) => sum + x * x + y * y, 0) / shifts.length)
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

/** Returns the smaller of the two scales of a transform, divided by the larger: 1 keeps the shape. */
function scaleRatio({ a, b, d, e }: AffineTransform): number {
  const even = Math.hypot((a + e) / 2, (d - b) / 2)
  const odd = Math.hypot((a - e) / 2, (d + b) / 2)
  return Math.abs(even - odd) / (even + odd)
}
