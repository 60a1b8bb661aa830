import { boundsOf } from '../image/geometry.ts'
import type { Rect } from '../image/geometry.ts'
import type { DetectedFace } from '../image-context.ts'

/**
 * The face as the liveness networks' crops count it, in continuous coordinates of the frame: the
 * bounds of its mesh, from the hairline to the chin. Detectors draw their boxes each in a way of its
 * own; so the judgement is the same whichever of them found the face.
 */
export function meshBounds({ mesh }: DetectedFace): Rect {
  return boundsOf(mesh.points)
}
