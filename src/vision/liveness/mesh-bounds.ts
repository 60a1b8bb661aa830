import type { DetectedFace } from '../image-context.ts'
import { boundsOf } from '../image/geometry.ts'
import type { Rect } from '../image/geometry.ts'

/**
 * Returns the face box for the crops of the liveness networks, in continuous coordinates of the
 * frame: the bounds of the mesh, from the hairline to the chin. Boxes differ between detectors; with
 * the mesh, the score does not depend on the detector that found the face.
 */
export function meshBounds({ mesh }: DetectedFace): Rect {
  return boundsOf(mesh.points)
}
