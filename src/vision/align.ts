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
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  const toFrame = fitSimilarity(template, [leftEye, rightEye, noseTip, leftMouth, rightMouth])
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

/**
 * Eyes, nose tip and corners of the mouth in the 112 px chip of ArcFace (Deng et al. 2019, the
 * `arcface_dst` of insightface), which names pixels by their centres: half a pixel more here.
 */
const template = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
].map(({ x, y }) => ({ x: x + 0.5, y: y + 0.5 }))
