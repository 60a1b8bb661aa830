import { encodeCrop } from './image/encode-crop.ts'
import type { OrientedImage } from './image/frame.ts'
import type { Rect } from './image/geometry.ts'
import type { ImagePyramid } from './image/pyramid.ts'
import { cropTransform } from './image/similarity-transform.ts'

/** The crop's side in longer sides of the face's box: detectors want to see what is around a face. */
const sidePerBox = 2
/** px; a face that fills half of it is as large as any network looks at. */
const sidePxMax = 320

/**
 * A square with the face in its middle, as a JPEG in base64: enough of its surroundings that the
 * whole pipeline, or a later one, can look at it again. No larger than the picture shows it; beyond
 * the border of the picture its last pixels go on.
 *
 * @param box of the face, in continuous coordinates of the frame.
 */
export async function createContextCrop(
  pyramid: ImagePyramid,
  box: Rect,
  { width, frame }: Pick<OrientedImage, 'width' | 'frame'>,
): Promise<string> {
  const side = sidePerBox * Math.max(box.width, box.height)
  const sidePx = Math.max(1, Math.min(sidePxMax, Math.round((side * width) / frame.width)))
  const square = {
    x: box.x + (box.width - side) / 2,
    y: box.y + (box.height - side) / 2,
    width: side,
    height: side,
  }
  const size = { width: sidePx, height: sidePx }
  return encodeCrop(await pyramid.sample(cropTransform(square, size), size))
}
