import { type OrientedImage, encodeJpeg } from './image/decode.ts'
import { type Rect, cropTransform, fitSimilarityTransform } from './image/geometry.ts'
import type { ImagePyramid, PlanarCrop } from './image/pyramid.ts'
import { arcfaceTemplate, landmarkPoints } from './embed/aligned-crops.ts'
import type { Landmarks } from './landmarks/mesh.ts'

const alignedSidePx = 112

/**
 * Returns the face rotated, scaled and shifted to the usual 112×112 template, as a JPEG in base64.
 * Beyond the border of the image, the border pixels are repeated.
 *
 * @param landmarks in continuous coordinates of the frame.
 */
export async function createFaceCrop(pyramid: ImagePyramid, landmarks: Landmarks): Promise<string> {
  const toFrame = fitSimilarityTransform(arcfaceTemplate(alignedSidePx), landmarkPoints(landmarks))
  return encodeCrop(await pyramid.sample(toFrame, { width: alignedSidePx, height: alignedSidePx }))
}

/** The side of the crop, in longer sides of the face box. Detectors need the surroundings. */
const sidePerBox = 2
/** px. A face that fills half of the crop has the largest size that any network uses. */
const sidePxMax = 320

/**
 * Returns a square crop with the face in its centre, as a JPEG in base64. It contains enough of the
 * surroundings that the whole pipeline, or a later version of it, can analyze the face again. The
 * crop is never larger than the area is in the image. Beyond the border of the image, the border
 * pixels are repeated.
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

/** Returns a crop as a JPEG in base64. */
async function encodeCrop({ width, height, planes }: PlanarCrop): Promise<string> {
  const pixels = new Uint8Array(planes.length)
  const size = width * height
  for (let i = 0; i < size; i++)
    for (let channel = 0; channel < 3; channel++)
      pixels[3 * i + channel] = Math.round(planes[channel * size + i] ?? 0)
  return (await encodeJpeg({ width, height, pixels })).toString('base64')
}
