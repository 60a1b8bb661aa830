import type { Point } from '../image/geometry.ts'
import type { Landmarks } from './landmarks.ts'

/**
 * Returns the positions of the five points in a crop of `size` px that is aligned like the 112 px
 * crop of ArcFace (Deng et al. 2019, `arcface_dst` of insightface). `zoom` scales the face around the
 * centre of the crop. The result is in continuous coordinates, in the order of `landmarkPoints`.
 *
 * The source uses the coordinates of pixel centres; half a pixel is added here.
 */
export function arcfaceTemplate(size: number, zoom = 1): Point[] {
  const scale = (position: number): number =>
    ((position - centrePx) * zoom + centrePx) * (size / sidePx) + 0.5
  return templatePoints.map(({ x, y }) => ({ x: scale(x), y: scale(y) }))
}

/** Returns the landmarks in the order of the template. */
export function landmarkPoints(landmarks: Landmarks): Point[] {
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth]
}

const sidePx = 112
/** The fixed point of the zoom, in the coordinates of the source. */
const centrePx = sidePx / 2

/** Left eye, right eye, nose tip, left and right corner of the mouth. */
const templatePoints = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
]
