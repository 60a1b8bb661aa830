import { arcfaceTemplate, fivePoints } from './arcface.ts'
import { chipJpeg } from './chip-jpeg.ts'
import type { Pyramid } from './pyramid.ts'
import { fitSimilarity } from './similarity.ts'
import type { Landmarks } from './view.ts'

/**
 * The face turned, scaled and shifted to the usual 112×112 template, as a JPEG in base64. Beyond
 * the border of the picture its last pixels go on.
 *
 * @param landmarks in continuous coordinates of the frame.
 */
export async function alignedCrop(pyramid: Pyramid, landmarks: Landmarks): Promise<string> {
  const toFrame = fitSimilarity(arcfaceTemplate(side), fivePoints(landmarks))
  return chipJpeg(await pyramid.sample(toFrame, { width: side, height: side }))
}

/** px */
const side = 112
