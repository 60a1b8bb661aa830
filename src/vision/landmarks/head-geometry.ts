import type { OrientedImage } from '../image/frame.ts'
import { meanOf, type Point } from '../image/geometry.ts'
import { eyeCentres, meshLandmarks68, type Mesh } from './mesh.ts'

/** The size and position of a head in the oriented image. */
export type HeadPosition = {
  /** Chin to crown as a share of the image height; the position of the crown is estimated. */
  readonly heightShare: number
  /** The point midway between the eyes, as shares of the image width and height, 0..1. */
  readonly eyeMidpoint: Point
  /** Distance between the eye centres, px of the image. */
  readonly eyeDistancePx: number
}

/** Returns the position of the head in the whole image. */
export function headPosition(mesh: Mesh, { width, height, frame }: OrientedImage): HeadPosition {
  const { leftEye, rightEye, eyes, heightPx } = headGeometry(mesh)
  const toImage = width / frame.width
  return {
    heightShare: (heightPx * toImage) / height,
    eyeMidpoint: { x: eyes.x / frame.width, y: eyes.y / frame.height },
    eyeDistancePx: Math.hypot(rightEye.x - leftEye.x, rightEye.y - leftEye.y) * toImage,
  }
}

/**
 * Returns the head in continuous coordinates of the frame.
 *
 * No network detects the top of the head. The eyes are half-way between chin and crown, according to
 * the proportions that artists use. The height of the head is therefore twice the distance between
 * the chin and the eyes.
 */
export function headGeometry(mesh: Mesh) {
  const { leftEye, rightEye } = eyeCentres(meshLandmarks68(mesh))
  const eyes = meanOf([leftEye, rightEye])
  const chin: Point = mesh.points[chinIndex] ?? eyes
  return {
    leftEye,
    rightEye,
    eyes,
    chin,
    heightPx: 2 * Math.hypot(chin.x - eyes.x, chin.y - eyes.y),
  }
}

const chinIndex = 152
