import { resizeFrame } from '../image/decode.ts'
import type { Frame } from '../image/frame.ts'
import { boundsOf } from '../image/geometry.ts'
import type { Rect } from '../image/geometry.ts'
import { headGeometry } from '../landmarks/head-geometry.ts'
import { frameLuma, lumaStatistics, meanSquareFrequency } from './luma.ts'
import type { Luma } from './luma.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import { meshRegions } from '../landmarks/mesh-regions.ts'
import { sharpnessFromFrequency } from './measure-face-quality.ts'

/** A picture as a whole. */
export type ImageQuality = {
  /** Mean luma of the whole picture, 0..100. */
  readonly brightness: number
  /** As the component of a face, of the whole picture, 0..100. */
  readonly sharpness: number
  /** How plain the background of the largest face is; undefined where there is no face. */
  readonly background: BackgroundStats | undefined
}

export type BackgroundStats = {
  /** Standard deviation of the background's luma, 0..128. */
  readonly deviation: number
  /** The share of the picture that was looked at as background, 0..1. */
  readonly share: number
}

/** Judges a picture as a whole. `mesh`: that of the largest face, if there is one. */
export async function measureImageQuality(
  frame: Frame,
  mesh: Mesh | undefined,
): Promise<ImageQuality> {
  const scale = Math.min(1, sidePxMax / Math.max(frame.width, frame.height))
  const width = Math.max(1, Math.round(frame.width * scale))
  const height = Math.max(1, Math.round(frame.height * scale))
  const luma = frameLuma(scale < 1 ? await resizeFrame(frame, width, height) : frame)
  return {
    brightness: Math.round((lumaStatistics(luma).mean / 255) * 100),
    sharpness: Math.round(100 * sharpnessFromFrequency(meanSquareFrequency(luma))),
    background: mesh && measureBackground(luma, headBoxOf(mesh, scale)),
  }
}

/**
 * What lies beside and above the head, as far down as the mouth, so that shoulders do not count.
 * Plainness is the spread of its luma: a wall in even light has below 12, one with a soft shadow or
 * a gradient some 20, a street 40 to 70.
 */
function measureBackground(luma: Luma, { left, right, top, bottom }: HeadBox): BackgroundStats {
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
  return { deviation, share: count / luma.values.length }
}

type HeadBox = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>

/** With the hair of most people; `scale`: px of the small picture per px of the frame. */
function headBoxOf(mesh: Mesh, scale: number): HeadBox {
  const oval: Rect = boundsOf(meshRegions.oval.map((index) => mesh.points[index] ?? { x: 0, y: 0 }))
  const { chin, heightPx } = headGeometry(mesh)
  const hair = hairShare * oval.width
  return {
    left: scale * (oval.x - hair),
    right: scale * (oval.x + oval.width + hair),
    top: scale * (chin.y - heightPx * (1 + hairShare)),
    bottom: scale * (oval.y + mouthShare * oval.height),
  }
}

/** Sharpness is told at this size: the finer a picture is sampled, the softer its pixels look. */
const sidePxMax = 512

const hairShare = 0.25
const mouthShare = 0.75
