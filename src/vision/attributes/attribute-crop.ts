import { boundsOf, centreOf, squareAround, type Rect } from '../image/geometry.ts'
import { meshLandmarks68, type Mesh } from '../landmarks/mesh.ts'

/**
 * Returns the square that the networks for age and expression need, in continuous coordinates of the
 * frame. These networks are trained on squares around BlazeFace's box. Here the box is derived from
 * the landmarks, so that the crop does not depend on the detector that found the face.
 *
 * @param cropFactor of the network: the side as a multiple of BlazeFace's box.
 */
export function attributeCrop(mesh: Mesh, cropFactor: number): Rect {
  const bounds = boundsOf(meshLandmarks68(mesh))
  const longer = Math.max(bounds.width, bounds.height)
  const { x, y } = centreOf(bounds)
  return squareAround({ x, y: y + centreShift * longer }, cropFactor * sideFactor * longer)
}

/**
 * The side and the vertical centre of BlazeFace's box, relative to the longer side of the landmarks'
 * bounds: medians over 1,040 press photographs. Nine in ten are within 1.15 to 1.38 and −0.21 to
 * −0.07.
 */
const sideFactor = 1.26
const centreShift = -0.15
