import type { Mesh } from './mesh.ts'
import type { Pose } from './view.ts'

/** How good a face is for recognition. */
export type Quality = {
  /** 0..100, whole. */
  readonly score: number
  readonly components: QualityComponents
}

/** Each 0..1, 1 where it does not stand in the way of recognition. */
export type QualityComponents = {
  readonly sharpness: number
  readonly brightness: number
  readonly contrast: number
  readonly exposure: number
  readonly faceSize: number
  readonly headPose: number
  readonly confidence: number
}

/**
 * Scores a face from its upright crop, its pose and the detectors' confidence.
 *
 * The score is the geometric mean of the components, weighted: one bad component cannot be made up
 * for by the others. All are read from the face's own square of the mesh's crop, in luma 0..255.
 */
export function qualityOf(mesh: Mesh, pose: Pose, confidence: number): Quality {
  const luma = faceLuma(mesh)
  const { mean, deviation, clipped } = statistics(luma)
  const components = {
    sharpness: ramp(Math.log(meanSquareFrequency(luma)), Math.log(0.06), Math.log(0.7)),
    brightness: Math.min(ramp(mean, 10, 70), ramp(mean, 250, 200)),
    contrast: ramp(deviation, 5, 30),
    exposure: ramp(clipped, 0.6, 0.1),
    faceSize: ramp(faceSide * mesh.chipScale, 20, 140),
    headPose: ramp(offAxisDegrees(pose), 60, 12),
    confidence: ramp(confidence, 0.2, 0.9),
  }
  return { score: Math.round(100 * geometricMean(components)), components }
}

/** They sum to 1. */
const weights: QualityComponents = {
  sharpness: 0.3,
  brightness: 0.1,
  contrast: 0.15,
  exposure: 0.05,
  faceSize: 0.15,
  headPose: 0.15,
  confidence: 0.1,
}

function geometricMean(components: QualityComponents): number {
  return (Object.keys(weights) as (keyof QualityComponents)[]).reduce(
    (product, name) => product * components[name] ** weights[name],
    1,
  )
}

/** 0 at `none` and beyond, 1 at `full` and beyond, straight between; either may be the larger. */
function ramp(value: number, none: number, full: number): number {
  return Math.min(1, Math.max(0, (value - none) / (full - none)))
}

/** The angle between the nose and the camera. Roll is left out: alignment takes it out too. */
function offAxisDegrees({ yaw, pitch }: Pose): number {
  const radians = Math.PI / 180
  return Math.acos(Math.cos(yaw * radians) * Math.cos(pitch * radians)) / radians
}

/** A grey square, row by row, 0..255. */
type Luma = { readonly side: number; readonly values: Float32Array }

/** The longer side of the landmarks' bounds in the mesh's crop, which is 1.5 times as wide; px. */
const faceSide = 128

/** The square about the brows, eyes, nose and mouth in the mesh's crop: no hair, no background. */
const inner = { left: 48, top: 56, side: 96 }

/** Rec. 601 luma. */
function faceLuma({ chip }: Mesh): Luma {
  const { side, left, top } = inner
  const size = chip.width * chip.height
  const { planes } = chip
  const values = new Float32Array(side * side)
  for (let y = 0, to = 0; y < side; y++)
    for (let x = 0; x < side; x++, to++) {
      const at = (top + y) * chip.width + left + x
      const red = planes[at] ?? 0
      const green = planes[at + size] ?? 0
      const blue = planes[at + 2 * size] ?? 0
      values[to] = 0.299 * red + 0.587 * green + 0.114 * blue
    }
  return { side, values }
}

/** Mean, standard deviation, and the share of pixels at either end of the range. */
function statistics({ values }: Luma) {
  let sum = 0
  let squares = 0
  let clipped = 0
  for (const value of values) {
    sum += value
    squares += value * value
    if (value < 8 || value > 247) clipped++
  }
  const mean = sum / values.length
  const variance = Math.max(0, squares / values.length - mean * mean)
  return { mean, deviation: Math.sqrt(variance), clipped: clipped / values.length }
}

/**
 * Sum of squared second differences over sum of squared first differences: the mean squared
 * frequency of the face's edges. Blurring by a Gaussian always lowers it (its derivative by the
 * width is minus a variance), and neither brightness nor contrast changes it.
 */
function meanSquareFrequency({ side, values }: Luma): number {
  let first = 0
  let second = 0
  for (let y = 1; y < side - 1; y++)
    for (let x = 1; x < side - 1; x++) {
      const at = y * side + x
      const here = values[at] ?? 0
      const right = values[at + 1] ?? 0
      const left = values[at - 1] ?? 0
      const below = values[at + side] ?? 0
      const above = values[at - side] ?? 0
      first += (right - here) ** 2 + (below - here) ** 2
      second += (right + left + below + above - 4 * here) ** 2
    }
  return first === 0 ? 0 : second / first
}
