import { boundsOf } from '../geometry.ts'
import type { Rect } from '../geometry.ts'
import type { Found } from '../scene.ts'

/**
 * The face as the liveness networks' crops count it, in continuous coordinates of the frame: the
 * bounds of its mesh, from the hairline to the chin. Detectors draw their boxes each in a way of its
 * own; so the judgement is the same whichever of them found the face.
 */
export function faceBox({ mesh }: Found): Rect {
  return boundsOf(mesh.points)
}
