import { type Frame, resizeFrame } from '../image/decode.ts'
import { boundsOf, scaleSize } from '../image/geometry.ts'
import { type Mesh, headGeometry, meshRegions } from '../landmarks/mesh.ts'
import { frameLuma, lumaStatistics, meanSquareFrequency, type Luma } from './luma.ts'
import { sharpnessFromFrequency } from './measure-face-quality.ts'

/** The quality of an image as a whole. */
export type ImageQuality = Awaited<ReturnType<typeof measureImageQuality>>

/** @param mesh of the largest face, if there is one. */
export async function measureImageQuality(frame: Frame, mesh: Mesh | undefined) {
  const scale = Math.min(1, sidePxMax / Math.max(frame.width, frame.height))
  const luma = frameLuma(scale < 1 ? await resizeFrame(frame, scaleSize(frame, scale)) : frame)
  return {
    /** Mean luma of the whole image, 0..100. */
    brightness: Math.round((lumaStatistics(luma).mean / 255) * 100),
    /** Sharpness of the whole image, 0..100, with the formula of the face component. */
    sharpness: Math.round(100 * sharpnessFromFrequency(meanSquareFrequency(luma))),
    /** The background of the largest face; undefined if there is no face. */
    background: mesh && measureBackground(luma, headBoxOf(mesh, scale)),
  }
}

/**
 * Measures the area beside and above the head, down to the mouth, so that shoulders are excluded.
 * The deviation is below 12 for an evenly lit wall, about 20 for a wall with a soft shadow or a
 * gradient, and 40 to 70 for a street.
 */
function measureBackground(luma: Luma, { left, right, top, bottom }: HeadBox) {
  let count = 0
  let sum = 0
  let squares = 0
  for (let y = 0; y < Math.min(luma.height, bottom); y++)
    for (let x = 0; x < luma.width; x++) {
      if (x > left && x < right && y > top) continue
      const value = luma.values[y * luma.width + x] ?? 0
      count++
      sum += value
      squares += value * value
    }
  const mean = sum / Math.max(1, count)
  const deviation = Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean))
  return {
    /** Standard deviation of the background luma, 0..128. A plain background has a low value. */
    deviation,
    /** The share of the image that was measured as background, 0..1. */
    share: count / luma.values.length,
  }
}

type HeadBox = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>

/**
 * Returns the box of the head, including the hair of most people.
 *
 * @param scale px of the measured image per px of the frame.
 */
function headBoxOf(mesh: Mesh, scale: number): HeadBox {
  const oval = boundsOf(meshRegions.oval.map((index) => mesh.points[index] ?? { x: 0, y: 0 }))
  const { chin, heightPx } = headGeometry(mesh)
  const hair = hairShare * oval.width
  return {
    left: scale * (oval.x - hair),
    right: scale * (oval.x + oval.width + hair),
    top: scale * (chin.y - heightPx * (1 + hairShare)),
    bottom: scale * (oval.y + mouthShare * oval.height),
  }
}

/** Sharpness is measured at this size, because a higher resolution has softer pixels. */
const sidePxMax = 512

const hairShare = 0.25
const mouthShare = 0.75
