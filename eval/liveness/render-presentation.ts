import type { Frame } from '../../src/vision/image/decode.ts'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'

/** How a camera renders a flat image. Levels are 0..255, lengths in px, angles in radians. */
export type CameraRendering = {
  /** The output levels of black and white. */
  readonly black: number
  readonly white: number
  readonly gamma: number
  /** Gain of red, green, blue. */
  readonly tint: readonly [number, number, number]
  /** Share of the camera's view that the image fills along a side, and its rotation. */
  readonly share: number
  readonly radians: number
  /** Paper or frame around the image: width as a share of a side, and grey level. */
  readonly border: { readonly share: number; readonly level: number }
  /** Colour of the background. */
  readonly background: readonly [number, number, number]
  /** The pattern of ink dots or pixels, and its moiré with the camera's pixels. */
  readonly grid: Wave
  readonly moire: Wave
  /** Maximum level that a lamp's reflection adds. */
  readonly glare: number
  /** Relative change of the light from the left to the right side. */
  readonly lightGradient: number
  /** Approximate standard deviation of the camera noise. */
  readonly noise: number
  /** Phase of the waves and the reflection. */
  readonly phase: number
}

type Wave = { readonly depth: number; readonly period: number; readonly radians: number }

/** Renders `frame` as a camera would record it. The result has the same size as `frame`. */
export function renderPresentation(
  frame: Frame,
  rendering: CameraRendering,
  random: RandomSource,
): Frame {
  const { width, height } = frame
  const pixels = new Uint8Array(width * height * 3)
  const cos = Math.cos(rendering.radians) / rendering.share
  const sin = Math.sin(rendering.radians) / rendering.share
  for (let y = 0, offset = 0; y < height; y++)
    for (let x = 0; x < width; x++, offset += 3) {
      const across = x / width - 0.5
      const down = y / height - 0.5
      const u = cos * across - sin * down
      const v = sin * across + cos * down
      const outside = Math.max(Math.abs(u), Math.abs(v)) - 0.5
      const light = 1 + rendering.lightGradient * across
      const glare =
        rendering.glare * Math.exp(-20 * ((u - 0.3 * Math.sin(rendering.phase)) ** 2 + v * v))
      for (let channel = 0; channel < 3; channel++) {
        const level =
          outside <= 0
            ? texelAt(frame, rendering, { u, v, channel }) + glare
            : outside < rendering.border.share
              ? rendering.border.level
              : (rendering.background[channel] ?? 0)
        // A uniform distribution is √12 standard deviations wide.
        const noise = rendering.noise * 3.46 * (random() - 0.5)
        pixels[offset + channel] = Math.max(0, Math.min(255, Math.round(level * light + noise)))
      }
    }
  return { width, height, pixels }
}

type TexelPosition = { readonly u: number; readonly v: number; readonly channel: number }

/** Returns the level of the image at (u, v), −0.5..0.5, as printed or shown on a screen. */
function texelAt(
  { width, height, pixels }: Frame,
  rendering: CameraRendering,
  { u, v, channel }: TexelPosition,
): number {
  const x = Math.min(width - 1, Math.max(0, (u + 0.5) * width - 0.5))
  const y = Math.min(height - 1, Math.max(0, (v + 0.5) * height - 0.5))
  const left = Math.floor(x)
  const top = Math.floor(y)
  const pixelAt = (column: number, row: number): number =>
    pixels[(Math.min(row, height - 1) * width + Math.min(column, width - 1)) * 3 + channel] ?? 0
  const upper = pixelAt(left, top) + (pixelAt(left + 1, top) - pixelAt(left, top)) * (x - left)
  const lower =
    pixelAt(left, top + 1) + (pixelAt(left + 1, top + 1) - pixelAt(left, top + 1)) * (x - left)
  const level = (upper + (lower - upper) * (y - top)) / 255
  const toned = rendering.black + (rendering.white - rendering.black) * level ** rendering.gamma
  // The three colours of a screen are side by side, so their grids are a third of a period apart.
  const shift = rendering.phase + (2 * Math.PI * channel) / 3
  const wave = ({ depth, period, radians }: Wave, startPhase: number): number => {
    const along = Math.cos(radians) * u * width + Math.sin(radians) * v * height
    return 1 + depth * Math.sin((2 * Math.PI * along) / period + startPhase)
  }
  return (
    toned *
    (rendering.tint[channel] ?? 1) *
    wave(rendering.grid, shift) *
    wave(rendering.moire, shift)
  )
}
