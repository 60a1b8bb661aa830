import { builtinPack } from '../models/builtin.ts'
import { centre, meanOf, squareAround } from './geometry.ts'
import type { Rect } from './geometry.ts'
import type { Pyramid } from './pyramid.ts'
import { output } from './session.ts'
import type { Session } from './session.ts'
import { apply, chipOver } from './similarity.ts'
import { toTensor } from './tensor.ts'
import type { Point } from './view.ts'

/**
 * The 68 points of the iBUG order (jaw 0–16, brows 17–26, nose 27–35, eyes 36–47, mouth 48–67)
 * inside a face box, in continuous coordinates of the frame. Rough (4 % of the distance between
 * the eyes' outer corners), but good enough to turn the face upright for the mesh.
 */
export async function landmarks68(session: Session, pyramid: Pyramid, box: Rect): Promise<Point[]> {
  const { input } = session
  const side = cropFactor * Math.max(box.width, box.height)
  const toFrame = chipOver(squareAround(centre(box), side), input)
  const outputs = await session.run(toTensor(await pyramid.sample(toFrame, input), input))
  const points = output(outputs, 'landmarks')
  return Array.from({ length: points.length / 2 }, (_, index) =>
    apply(toFrame, {
      x: (points[2 * index] ?? 0) * input.width,
      y: (points[2 * index + 1] ?? 0) * input.height,
    }),
  )
}

/** The centres of the eyes' outlines in the 68 points; left and right as seen in the image. */
export function eyeCentres(points: readonly Point[]): {
  readonly leftEye: Point
  readonly rightEye: Point
} {
  return { leftEye: meanOf(points.slice(36, 42)), rightEye: meanOf(points.slice(42, 48)) }
}

const { cropFactor } = builtinPack.models.face_landmark_68.recipe
