import type { OrientedImage } from '../image/frame.ts'
import { meanOf } from '../image/geometry.ts'
import { eyeCentres } from './landmarks-68.ts'
import { meshLandmarks68 } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import type { Point } from '../image-analysis.ts'

/** Where the head lies in the picture, in parts of the picture's height and width, 0..1. */
export type HeadPosition = {
  /** Chin to crown; the crown is estimated, for no network sees it. */
  readonly heightShare: number
  /** The middle between the eyes. */
  readonly eyeMidpoint: Point
  /** Between the middles of the eyes, px of the picture. */
  readonly eyeDistancePx: number
}

/** Where the head lies in the whole picture. */
export function headPosition(mesh: Mesh, { width, height, frame }: OrientedImage): HeadPosition {
  const { leftEye, rightEye, eyes, heightPx } = headGeometry(mesh)
  const toPicture = width / frame.width
  return {
    heightShare: (heightPx * toPicture) / height,
    eyeMidpoint: { x: eyes.x / frame.width, y: eyes.y / frame.height },
    eyeDistancePx: Math.hypot(rightEye.x - leftEye.x, rightEye.y - leftEye.y) * toPicture,
  }
}

/**
 * The head in continuous coordinates of the frame.
 *
 * No network sees where the hair ends. The eyes lie half-way between chin and crown (the canon that
 * draughtsmen use), so the head is twice as high as the way from the chin to the eyes.
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
