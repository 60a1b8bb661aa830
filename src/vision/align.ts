import { arcfaceTemplate, fivePoints } from './arcface.ts'
import { encodeJpeg } from './decode.ts'
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
  const { planes } = await pyramid.sample(toFrame, { width: side, height: side })
  const pixels = new Uint8Array(planes.length)
  const size = side * side
  for (let i = 0; i < size; i++)
    for (let channel = 0; channel < 3; channel++)
      pixels[3 * i + channel] = Math.round(planes[channel * size + i] ?? 0)
  return (await encodeJpeg({ width: side, height: side, pixels })).toString('base64')
}

/** px */
const side = 112
