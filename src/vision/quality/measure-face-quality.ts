import { cropLuma, lumaStatistics, meanSquareFrequency } from './luma.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import { meshRegions } from '../landmarks/mesh-regions.ts'
import { estimateOcclusion } from './occlusion.ts'
import { measureOpenness } from './openness.ts'
import { linearRamp } from './linear-ramp.ts'
import type { FaceQuality, Openness, Occlusion, QualityComponents } from './face-quality.ts'
import type { HeadPose } from '../image-analysis.ts'

/** What is judged: the close look, where the head points, how sure the detectors are. */
export type FaceQualityInput = {
  readonly mesh: Mesh
  readonly pose: HeadPose
  readonly confidence: number
  /** px of the finest frame there is per px of the frame. */
  readonly highResScale: number
  /** Size of the frame, px. */
  readonly frame: { readonly width: number; readonly height: number }
}

/**
 * How good a face is for recognition, 0..100 (whole), and what was measured of it.
 *
 * The score is the geometric mean, weighted, of what stands in the way of comparing faces: one bad
 * component cannot be made up for by the others. Eyes and mouth are told and not weighed: they
 * hardly change a comparison.
 */
export function measureFaceQuality(
  judged: FaceQualityInput,
): FaceQuality & { readonly score: number } {
  const { mesh, frame, confidence } = judged
  const openness = measureOpenness(mesh)
  const occlusion = estimateOcclusion(mesh)
  const { luma, shares } = measureComponents(judged, openness, occlusion)
  const weighed: WeightedComponents = {
    ...shares,
    confidence: linearRamp(confidence, 0.2, 0.9),
    occlusion: uncoveredMin + (1 - uncoveredMin) * shares.occlusion,
  }
  return {
    score: Math.round(100 * geometricMean(weighed)),
    components: toPercent(shares),
    luma,
    openness,
    occlusion,
    cutShare: cutShareOf(mesh, frame),
  }
}

type WeightedComponents = Omit<QualityComponents, 'eyesOpen' | 'mouthClosed'> & {
  readonly confidence: number
}

/** They sum to 1, but for the occlusion's, which only takes away. */
const weights: WeightedComponents = {
  sharpness: 0.3,
  brightness: 0.1,
  contrast: 0.15,
  exposure: 0.05,
  faceSize: 0.15,
  headPose: 0.15,
  confidence: 0.1,
  occlusion: 0.1,
}

/** So much is left of the component of a face that is surely covered: half a face still compares. */
const uncoveredMin = 0.2

function geometricMean(components: WeightedComponents): number {
  return (Object.keys(weights) as (keyof WeightedComponents)[]).reduce(
    (product, name) => product * components[name] ** weights[name],
    1,
  )
}

/**
 * The components as shares, 0..1. Sharpness to exposure are read from the square about brows, eyes,
 * nose and mouth of the mesh's crop: no hair, no background.
 */
function measureComponents(judged: FaceQualityInput, openness: Openness, occlusion: Occlusion) {
  const { mesh, pose, highResScale: finerScale } = judged
  const luma = cropLuma(mesh.crop, inner)
  const { mean, deviation, clippedShare: clipped } = lumaStatistics(luma)
  const covered = Math.max(occlusion.leftEye, occlusion.rightEye, occlusion.lowerFace)
  const shares: QualityComponents = {
    // Logarithmic in the mean squared frequency: 0 at 0.06 (blurred beyond use), 1 at 0.7 (crisp).
    sharpness: sharpnessFromFrequency(meanSquareFrequency(luma)),
    // Of the mean luma: 0 at 10 and 250, 1 between 70 and 200.
    brightness: Math.min(linearRamp(mean, 10, 70), linearRamp(mean, 250, 200)),
    // Of the standard deviation of the luma: 0 at 5, 1 at 30.
    contrast: linearRamp(deviation, 5, 30),
    // Of the share of pixels below 8 or above 247: 1 up to a tenth, 0 at six tenths.
    exposure: linearRamp(clipped, 0.6, 0.1),
    // Of the face's side in px of the finest frame: 0 at 20, 1 at 140.
    faceSize: linearRamp(faceSide * mesh.cropScale * finerScale, 20, 140),
    // Of the angle between nose and camera: 1 up to 12°, 0 at 60°.
    headPose: linearRamp(offAxisDegrees(pose), 60, 12),
    // The mean of both eyes: a turned head makes the far one narrower.
    eyesOpen: (openness.leftEye + openness.rightEye) / 2,
    mouthClosed: 1 - openness.mouth,
    // 1 up to a probability of 0.3 that eyes or lower face are covered, 0 at 0.9.
    occlusion: linearRamp(covered, 0.9, 0.3),
  }
  return { luma: Math.round(mean * 10) / 10, shares }
}

/** 0..1 of a mean squared frequency. */
export function sharpnessFromFrequency(frequency: number): number {
  return frequency === 0 ? 0 : linearRamp(Math.log(frequency), Math.log(0.06), Math.log(0.7))
}

function toPercent(shares: QualityComponents): QualityComponents {
  return {
    sharpness: Math.round(100 * shares.sharpness),
    brightness: Math.round(100 * shares.brightness),
    contrast: Math.round(100 * shares.contrast),
    exposure: Math.round(100 * shares.exposure),
    faceSize: Math.round(100 * shares.faceSize),
    headPose: Math.round(100 * shares.headPose),
    eyesOpen: Math.round(100 * shares.eyesOpen),
    mouthClosed: Math.round(100 * shares.mouthClosed),
    occlusion: Math.round(100 * shares.occlusion),
  }
}

/** The angle between the nose and the camera. Roll is left out: alignment takes it out too. */
function offAxisDegrees({ yaw, pitch }: HeadPose): number {
  const radians = Math.PI / 180
  return Math.acos(Math.cos(yaw * radians) * Math.cos(pitch * radians)) / radians
}

/** The share of the points on the edge of the face that lie beyond the frame. */
function cutShareOf({ points }: Mesh, { width, height }: FaceQualityInput['frame']): number {
  const outside = meshRegions.oval.filter((index) => {
    const { x, y } = points[index] ?? { x: 0, y: 0 }
    return x < 0 || y < 0 || x > width || y > height
  })
  return outside.length / meshRegions.oval.length
}

/** The longer side of the landmarks' bounds in the mesh's crop, which is 1.5 times as wide; px. */
const faceSide = 128

/** About brows, eyes, nose and mouth in the mesh's crop. */
const inner = { x: 48, y: 56, width: 96, height: 96 }
