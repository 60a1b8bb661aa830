import type { Mesh } from '../landmarks/mesh.ts'
import { linearRamp } from './linear-ramp.ts'
import type { Openness } from './face-quality.ts'
import type { Point } from '../image-analysis.ts'

/**
 * How far eyes and mouth are open, 0..1, by ratios of distances between points of the mesh.
 *
 * Eyes: the eye aspect ratio (Soukupová and Čech 2016, "Real-time eye blink detection using facial
 * landmarks"), height over width of the opening. Over 826 press photographs it lies between 0.12 and
 * 0.44 (median 0.27); those below 0.16 are shut, or nearly so by laughing or against the sun, those
 * above 0.20 open.
 *
 * Mouth: the gap between the inner lips over the distance of the eyes' outer corners. 0.10 and more
 * are speaking mouths and smiles that show teeth (a quarter of press photographs).
 */
export function measureOpenness({ cropPoints: inChip }: Mesh): Openness {
  const at = (index: number): Point => inChip[index] ?? { x: 0, y: 0 }
  const eye = (points: EyePoints): number =>
    linearRamp(aspectRatio(points, at), eyeClosedRatio, eyeOpenRatio)
  const gap = distanceBetween(at(innerLips.upper), at(innerLips.lower))
  const eyes = distanceBetween(at(leftEye.outer), at(rightEye.outer))
  return {
    leftEye: eye(leftEye),
    rightEye: eye(rightEye),
    mouth: linearRamp(gap / Math.max(1, eyes), mouthClosedRatio, mouthOpenRatio),
  }
}

const eyeClosedRatio = 0.12
const eyeOpenRatio = 0.2
const mouthClosedRatio = 0.03
const mouthOpenRatio = 0.17

type EyePoints = {
  readonly outer: number
  readonly inner: number
  /** Points of the upper lid and those below them. */
  readonly lids: readonly (readonly [number, number])[]
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

function aspectRatio({ outer, inner, lids }: EyePoints, at: (index: number) => Point): number {
  const heights = lids.map(([upper, lower]) => distanceBetween(at(upper), at(lower)))
  const height = heights.reduce((sum, one) => sum + one, 0) / heights.length
  return height / Math.max(1, distanceBetween(at(outer), at(inner)))
}

function distanceBetween(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
