import type { Landmarks, Point } from '../image-analysis.ts'

/**
 * Where the five points lie in a chip of `size` px that shows the face like the 112 px chip of
 * ArcFace (Deng et al. 2019, the `arcface_dst` of insightface), `zoom` times as large about the
 * chip's centre; in continuous coordinates, in the order of `fivePoints`.
 *
 * The source names pixels by their centres: half a pixel more here.
 */
export function arcfaceTemplate(size: number, zoom = 1): Point[] {
  const along = (at: number): number => ((at - centrePx) * zoom + centrePx) * (size / sidePx) + 0.5
  return templatePoints.map(({ x, y }) => ({ x: along(x), y: along(y) }))
}

/** The landmarks in the order of the template. */
export function landmarkPoints(landmarks: Landmarks): Point[] {
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth]
}

/** px */
const sidePx = 112
/** The point that stays where it is, as the source counts. */
const centrePx = sidePx / 2

/** Eyes, nose tip and corners of the mouth. */
const templatePoints = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
]
