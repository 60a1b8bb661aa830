import { encodeCrop } from './image/encode-crop.ts'
import type { ImagePyramid } from './image/pyramid.ts'
import { fitSimilarityTransform } from './image/similarity-transform.ts'
import { arcfaceTemplate, landmarkPoints } from './embed/aligned-crops.ts'
import type { Landmarks } from './landmarks/landmarks.ts'

/**
 * Returns the face rotated, scaled and shifted to the usual 112×112 template, as a JPEG in base64.
 * Beyond the border of the image, the border pixels are repeated.
 *
 * @param landmarks in continuous coordinates of the frame.
 */
export async function createFaceCrop(pyramid: ImagePyramid, landmarks: Landmarks): Promise<string> {
  const toFrame = fitSimilarityTransform(arcfaceTemplate(sidePx), landmarkPoints(landmarks))
  return encodeCrop(await pyramid.sample(toFrame, { width: sidePx, height: sidePx }))
}

const sidePx = 112
