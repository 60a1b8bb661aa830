import { builtinPack } from '../models/builtin.ts'
import { boundsOf, centre, squareAround } from './geometry.ts'
import { eyeCentres } from './landmarks.ts'
import type { Pyramid } from './pyramid.ts'
import { output } from './session.ts'
import type { Session } from './session.ts'
import { apply, chipOver, fitSimilarity } from './similarity.ts'
import type { Affine } from './similarity.ts'
import { toTensor } from './tensor.ts'
import type { Landmarks, Point } from './view.ts'
import { shrinkOf } from './warp.ts'
import type { Chip } from './warp.ts'

/** The face as MediaPipe's mesh sees it. */
export type Mesh = {
  /**
   * 468 points in continuous coordinates of the frame; z in frame px too, smaller towards the
   * camera, about 0 at the middle of the head.
   */
  readonly points: readonly Point3[]
  /** The network's own answer to "is this a face", 0..1. */
  readonly faceScore: number
  /** The upright crop that it was read from, 192×192. */
  readonly chip: Chip
  /** Frame px per chip px. */
  readonly chipScale: number
}

export type Point3 = Point & { readonly z: number }

/** Runs the mesh on the upright crop that `toFrame` maps onto the frame. */
export async function faceMesh(session: Session, pyramid: Pyramid, toFrame: Affine): Promise<Mesh> {
  const { input } = session
  const chip = await pyramid.sample(toFrame, input)
  const outputs = await session.run(toTensor(chip, input))
  const raw = output(outputs, 'Identity_2')
  const chipScale = shrinkOf(toFrame)
  const points = Array.from({ length: raw.length / 3 }, (_, index) => ({
    // The mesh names pixels by their centres; the frame's coordinates start at their edges.
    ...apply(toFrame, { x: (raw[3 * index] ?? 0) + 0.5, y: (raw[3 * index + 1] ?? 0) + 0.5 }),
    z: (raw[3 * index + 2] ?? 0) * chipScale,
  }))
  return { points, faceScore: output(outputs, 'Identity_1')[0] ?? 0, chip, chipScale }
}

/** The mesh's points at the 68 landmarks of the iBUG order. */
export function meshLandmarks68({ points }: Mesh): Point[] {
  return recipe.landmarks68.map((index) => points[index] ?? { x: 0, y: 0 })
}

/** Centres of the eyes' outlines, tip of the nose and corners of the mouth; frame coordinates. */
export function namedLandmarks(mesh: Mesh): Landmarks {
  const points = meshLandmarks68(mesh)
  const at = (index: number): Point => points[index] ?? { x: 0, y: 0 }
  return {
    ...eyeCentres(points),
    noseTip: at(30),
    leftMouth: at(48),
    rightMouth: at(54),
  }
}

/** The crop for 68 rough landmarks: their bounds, widened, a little higher, the eyes level. */
export function cropAround(rough: readonly Point[]): Affine {
  const bounds = boundsOf(rough)
  const longer = Math.max(bounds.width, bounds.height)
  const middle = centre(bounds)
  const raised = { x: middle.x, y: middle.y + recipe.centreShift * longer }
  const { leftEye, rightEye } = eyeCentres(rough)
  const radians = Math.atan2(rightEye.y - leftEye.y, rightEye.x - leftEye.x)
  return chipOver(squareAround(raised, recipe.cropFactor * longer), input, radians)
}

/** The crop for a detector's five points, in the order of `fivePoints`. */
export function cropAtPoints(points: readonly Point[]): Affine {
  return fitSimilarity(fiveInCrop, points)
}

/**
 * Where the five points lie in the crop, px: medians of YuNet's and of SCRFD's points (2 px apart
 * at most) over 415 faces of LFW's fold 1 in crops about the mesh's own landmarks, made symmetric.
 */
const fiveInCrop: readonly Point[] = [
  { x: 66.7, y: 67.5 },
  { x: 125.3, y: 67.5 },
  { x: 96, y: 102.7 },
  { x: 70, y: 129.4 },
  { x: 122, y: 129.4 },
]

const { recipe, input } = builtinPack.models.facemesh
