import { builtinPack } from '../models/builtin.ts'
import { boundsOf, centre, squareAround } from './geometry.ts'
import { eyeCentres } from './landmarks.ts'
import type { Pyramid } from './pyramid.ts'
import { output } from './session.ts'
import type { Session } from './session.ts'
import { apply, chipOver } from './similarity.ts'
import { toTensor } from './tensor.ts'
import type { Landmarks, Point } from './view.ts'
import type { Chip } from './warp.ts'

/** The face as MediaPipe's mesh sees it. */
export type Mesh = {
  /**
   * 468 points in continuous coordinates of the frame; z in frame px too, smaller towards the
   * camera, about 0 at the middle of the head.
   */
  readonly points: readonly Point3[]
  /** The same points in continuous coordinates of the chip. */
  readonly inChip: readonly Point[]
  /** The network's own answer to "is this a face", 0..1. */
  readonly faceScore: number
  /** The upright crop that it was read from, 192×192. */
  readonly chip: Chip
  /** Frame px per chip px. */
  readonly chipScale: number
}

export type Point3 = Point & { readonly z: number }

/** Runs the mesh on the upright square around 68 rough landmarks. */
export async function faceMesh(
  session: Session,
  pyramid: Pyramid,
  rough: readonly Point[],
): Promise<Mesh> {
  const { input } = session
  const { square, radians } = uprightSquare(rough)
  const toFrame = chipOver(square, input, radians)
  const chip = await pyramid.sample(toFrame, input)
  const outputs = await session.run(toTensor(chip, input))
  const raw = output(outputs, 'Identity_2')
  const chipScale = square.width / input.width
  // The mesh names pixels by their centres; continuous coordinates start at their edges.
  const inChip = Array.from({ length: raw.length / 3 }, (_, index) => ({
    x: (raw[3 * index] ?? 0) + 0.5,
    y: (raw[3 * index + 1] ?? 0) + 0.5,
  }))
  const points = inChip.map((point, index) => ({
    ...apply(toFrame, point),
    z: (raw[3 * index + 2] ?? 0) * chipScale,
  }))
  return { points, inChip, faceScore: output(outputs, 'Identity_1')[0] ?? 0, chip, chipScale }
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

const { recipe } = builtinPack.models.facemesh

/** Where the mesh wants to look: the landmarks' bounds, widened, a little higher, eyes level. */
function uprightSquare(rough: readonly Point[]) {
  const bounds = boundsOf(rough)
  const longer = Math.max(bounds.width, bounds.height)
  const middle = centre(bounds)
  const raised = { x: middle.x, y: middle.y + recipe.centreShift * longer }
  const { leftEye, rightEye } = eyeCentres(rough)
  return {
    square: squareAround(raised, recipe.cropFactor * longer),
    radians: Math.atan2(rightEye.y - leftEye.y, rightEye.x - leftEye.x),
  }
}
