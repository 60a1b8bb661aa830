import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { centreOf, meanOf, squareAround } from '../image/geometry.ts'
import type { Point, Rect } from '../image/geometry.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { applyTransform, cropTransform } from '../image/similarity-transform.ts'
import { requireOutput } from '../session.ts'
import type { ModelSession } from '../session.ts'
import { toTensor } from '../tensor.ts'

/**
 * Predicts the 68 points of the iBUG order (jaw 0–16, brows 17–26, nose 27–35, eyes 36–47, mouth
 * 48–67) in a face box, in continuous coordinates of the frame. Their error is 4 % of the distance
 * between the outer eye corners, which is enough to rotate the face for the mesh.
 */
export async function predictLandmarks68(
  session: ModelSession,
  pyramid: ImagePyramid,
  box: Rect,
): Promise<Point[]> {
  const { input } = session
  const side = cropFactor * Math.max(box.width, box.height)
  const toFrame = cropTransform(squareAround(centreOf(box), side), input)
  const outputs = await session.run(toTensor(await pyramid.sample(toFrame, input), input))
  const points = requireOutput(outputs, 'landmarks')
  return Array.from({ length: points.length / 2 }, (_, index) =>
    applyTransform(toFrame, {
      x: (points[2 * index] ?? 0) * input.width,
      y: (points[2 * index + 1] ?? 0) * input.height,
    }),
  )
}

/** Returns the centres of the eye outlines in the 68 points; left and right as in the image. */
export function eyeCentres(points: readonly Point[]): {
  readonly leftEye: Point
  readonly rightEye: Point
} {
  return { leftEye: meanOf(points.slice(36, 42)), rightEye: meanOf(points.slice(42, 48)) }
}

const { cropFactor } = builtinPack.models.face_landmark_68.constants
