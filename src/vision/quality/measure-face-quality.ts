import { mapValues } from '../../lib/map-values.ts'
import { roundTo } from '../../lib/round-to.ts'
import { linearRamp, type ImageSize, type Point } from '../image/geometry.ts'
import { type HeadPose, type Mesh, meshRegions } from '../landmarks/mesh.ts'
import type { FaceQuality, Openness, Occlusion, QualityComponents } from './face-quality.ts'
import { cropLuma, lumaStatistics, meanSquareFrequency } from './luma.ts'
import { estimateOcclusion } from './occlusion.ts'

export type FaceQualityInput = {
  readonly mesh: Mesh
  readonly pose: HeadPose
  /** The confidence of the detection, 0..1. */
  readonly confidence: number
  /** px of the high-resolution frame per px of the frame. */
  readonly highResScale: number
  /** Size of the frame. */
  readonly frame: ImageSize
}

/**
 * Measures how suitable a face is for recognition. `score` is 0..100, an integer.
 *
 * The score is the weighted geometric mean of the components that affect comparisons, so that good
 * components cannot compensate for one bad component. Open mouths and closed eyes are reported but
 * do not affect the score, because they hardly change a comparison.
 */
export function measureFaceQuality(
  input: FaceQualityInput,
): FaceQuality & { readonly score: number } {
  const { mesh, frame, confidence } = input
  const openness = measureOpenness(mesh)
  const occlusion = estimateOcclusion(mesh)
  const { luma, shares } = measureComponents(input, openness, occlusion)
  const weighted: WeightedComponents = {
    ...shares,
    confidence: linearRamp(confidence, 0.2, 0.9),
  }
  const uncovered = coveredFactor + (1 - coveredFactor) * linearRamp(shares.occlusion, 0.5, 1)
  return {
    score: Math.round(100 * geometricMean(weighted) * uncovered),
    components: mapValues(shares, (share) => Math.round(100 * share)),
    luma,
    openness,
    occlusion,
    cutShare: cutShareOf(mesh, frame),
  }
}

type WeightedComponents = Omit<QualityComponents, 'eyesOpen' | 'mouthClosed' | 'occlusion'> & {
  readonly confidence: number
}

/** The weights sum to 1. */
const weights: WeightedComponents = {
  sharpness: 0.3,
  brightness: 0.1,
  contrast: 0.15,
  exposure: 0.05,
  faceSize: 0.15,
  headPose: 0.15,
  confidence: 0.1,
}

/**
 * The factor of the score from an occlusion component of 50 down. Half of the comparisons of such
 * pictures miss at 0.80, more than at any score of an uncovered face (docs/recognition/quality.md); with
 * this factor, good pictures of a covered face score below 70.
 */
const coveredFactor = 0.68

function geometricMean(components: WeightedComponents): number {
  return (Object.keys(weights) as (keyof WeightedComponents)[]).reduce(
    (product, name) => product * components[name] ** weights[name],
    1,
  )
}

/**
 * Returns the components as shares, 0..1. Sharpness, brightness, contrast and exposure are measured
 * in the square around brows, eyes, nose and mouth of the mesh crop, without hair and background.
 */
function measureComponents(input: FaceQualityInput, openness: Openness, occlusion: Occlusion) {
  const { mesh, pose, highResScale } = input
  const luma = cropLuma(mesh.crop, innerFace)
  const { mean, deviation, clippedShare } = lumaStatistics(luma)
  const covered = Math.max(occlusion.leftEye, occlusion.rightEye, occlusion.lowerFace)
  const shares: QualityComponents = {
    // Logarithmic in the mean squared frequency: 0 at 0.06 (unusably blurred), 1 at 0.7 (sharp).
    sharpness: sharpnessFromFrequency(meanSquareFrequency(luma)),
    // Mean luma: 0 at 10 and 250, 1 between 70 and 200.
    brightness: Math.min(linearRamp(mean, 10, 70), linearRamp(mean, 250, 200)),
    // Standard deviation of the luma: 0 at 5, 1 at 30.
    contrast: linearRamp(deviation, 5, 30),
    // Share of pixels below 8 or above 247: 1 up to a tenth, 0 at six tenths.
    exposure: linearRamp(clippedShare, 0.6, 0.1),
    // Side of the face in px of the high-resolution frame: 0 at 20, 1 at 140.
    faceSize: linearRamp(faceSidePx * mesh.cropScale * highResScale, 20, 140),
    // Angle between nose and camera: 1 up to 12°, 0 at 60°.
    headPose: linearRamp(offAxisDegrees(pose), 60, 12),
    // Mean of both eyes, because the far eye of a turned head is narrower.
    eyesOpen: (openness.leftEye + openness.rightEye) / 2,
    mouthClosed: 1 - openness.mouth,
    // Probability that eyes or lower face are covered: 1 up to 0.3, 0 at 0.9.
    occlusion: linearRamp(covered, 0.9, 0.3),
  }
  return { luma: roundTo(mean, 1), shares }
}

/** Returns the sharpness, 0..1, for a mean squared frequency. */
export function sharpnessFromFrequency(frequency: number): number {
  return frequency === 0 ? 0 : linearRamp(Math.log(frequency), Math.log(0.06), Math.log(0.7))
}

/** Returns the angle between the nose and the camera. Roll is ignored: alignment removes it too. */
function offAxisDegrees({ yaw, pitch }: HeadPose): number {
  const radians = Math.PI / 180
  return Math.acos(Math.cos(yaw * radians) * Math.cos(pitch * radians)) / radians
}

/** Returns the share of the points on the edge of the face that are outside the frame. */
function cutShareOf({ points }: Mesh, { width, height }: ImageSize): number {
  const outside = meshRegions.oval.filter((index) => {
    const { x, y } = points[index] ?? { x: 0, y: 0 }
    return x < 0 || y < 0 || x > width || y > height
  })
  return outside.length / meshRegions.oval.length
}

/** The longer side of the landmarks' bounds in the mesh crop, which is 1.5 times as wide. */
const faceSidePx = 128

/** The square around brows, eyes, nose and mouth in the mesh crop. */
const innerFace = { x: 48, y: 56, width: 96, height: 96 }

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
function measureOpenness({ cropPoints }: Mesh): Openness {
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
