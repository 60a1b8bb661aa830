import sharp from 'sharp'
import type { Sharp } from 'sharp'
import type { Frame } from '../../src/vision/image/decode.ts'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { renderPresentation } from './render-presentation.ts'
import type { CameraRendering } from './render-presentation.ts'

/** `live` is the image as another camera might have recorded it. */
export type PresentationScene = 'live' | 'print' | 'replay'

/**
 * Simulates what a camera records from `frame`, a photograph of a live person: the person again, a
 * print of the photograph, or the photograph on a screen.
 *
 * The simulation has raised black levels, colour casts, dots, moiré, edges of paper and screen, and
 * glare. It has no depth, no real ink and no real screen, so it does not replace recorded attacks.
 *
 * The live scene is blurred, lit, scaled and compressed like the attacks, so that these changes do
 * not distinguish them.
 *
 * @returns a JPEG.
 */
export async function simulatePresentation(
  scene: PresentationScene,
  frame: Frame,
  random: RandomSource,
): Promise<Buffer> {
  const between = (from: number, to: number): number => from + (to - from) * random()
  const softened = await soften(frame, scene === 'live' ? between(0, 0.8) : between(0.3, 1.4))
  const rendered = renderPresentation(softened, renderings[scene](between), random)
  return imageOf(rendered)
    .jpeg({ quality: Math.round(between(72, 95)) })
    .toBuffer()
}

type UniformRange = (from: number, to: number) => number

/** No grid. */
const noWave = { depth: 0, period: 1, radians: 0 }

const renderings: Readonly<Record<PresentationScene, (between: UniformRange) => CameraRendering>> =
  {
    live: (between) => ({
      ...cameraDefaults(between),
      black: between(0, 8),
      white: between(235, 255),
      tint: [between(0.95, 1.05), 1, between(0.95, 1.05)],
      share: 1,
      radians: 0,
      border: { share: 0, level: 0 },
      background: [0, 0, 0],
      grid: noWave,
      moire: noWave,
      glare: 0,
    }),
    print: (between) => ({
      ...cameraDefaults(between),
      black: between(15, 55),
      white: between(185, 235),
      tint: [between(0.92, 1.08), between(0.96, 1.02), between(0.82, 1.05)],
      share: between(0.62, 1),
      radians: between(-0.12, 0.12),
      border: { share: between(0, 0.05), level: between(200, 250) },
      background: [between(20, 220), between(20, 220), between(20, 220)],
      grid: { depth: between(0, 0.08), period: between(2, 4), radians: between(0.5, 1.1) },
      moire: noWave,
      glare: between(0, 25),
    }),
    replay: (between) => ({
      ...cameraDefaults(between),
      black: between(8, 40),
      white: between(215, 255),
      tint: [between(0.85, 1), between(0.95, 1.03), between(1, 1.15)],
      share: between(0.62, 1),
      radians: between(-0.12, 0.12),
      border: { share: between(0.01, 0.08), level: between(5, 50) },
      background: [between(20, 220), between(20, 220), between(20, 220)],
      grid: { depth: between(0.02, 0.15), period: between(2, 3.2), radians: between(-0.1, 0.1) },
      moire: { depth: between(0, 0.12), period: between(6, 40), radians: between(-1.5, 1.5) },
      glare: between(0, 60),
    }),
  }

function cameraDefaults(between: UniformRange) {
  return {
    gamma: between(0.75, 1.3),
    lightGradient: between(-0.25, 0.25),
    noise: between(1, 6),
    phase: between(0, 6.28),
  }
}

async function soften(frame: Frame, sigma: number): Promise<Frame> {
  if (sigma < 0.3) return frame
  const { width, height } = frame
  return { width, height, pixels: await imageOf(frame).blur(sigma).raw().toBuffer() }
}

function imageOf({ width, height, pixels }: Frame): Sharp {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}
