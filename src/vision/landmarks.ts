import { builtinPack } from '../models/builtin.ts'
import type { Frame } from './frame.ts'
import { centre, squareAround } from './geometry.ts'
import type { Rect } from './geometry.ts'
import { output } from './session.ts'
import type { Session } from './session.ts'
import { apply, chipOver } from './similarity.ts'
import { toTensor } from './tensor.ts'
import type { Point } from './view.ts'
import { warp } from './warp.ts'

/**
 * The 68 points of the iBUG order (jaw 0–16, brows 17–26, nose 27–35, eyes 36–47, mouth 48–67)
 * inside a face box, in continuous coordinates of the frame. Rough (4 % of the distance between
 * the eyes' outer corners), but good enough to turn the face upright for the mesh.
 */
export async function landmarks68(session: Session, frame: Frame, box: Rect): Promise<Point[]> {
  const { input } = session.entry
  const side = cropFactor * Math.max(box.width, box.height)
  const toFrame = chipOver(squareAround(centre(box), side), input)
  const outputs = await session.run(toTensor(warp(frame, toFrame, input), input))
  const points = output(outputs, 'landmarks')
  return Array.from({ length: points.length / 2 }, (_, index) =>
    apply(toFrame, {
      x: (points[2 * index] ?? 0) * input.width,
      y: (points[2 * index + 1] ?? 0) * input.height,
    }),
  )
}

/** The outlines of the eyes in the 68 points, left and right as seen in the image. */
export const eyeOutlines = {
  left: [36, 37, 38, 39, 40, 41],
  right: [42, 43, 44, 45, 46, 47],
} as const

const { cropFactor } = builtinPack.models.face_landmark_68.recipe
