import type { Frame } from '../../src/vision/image/frame.ts'
import type { RandomSource } from '../../src/evaluation/seeded-random.ts'

/** How a flat picture looks to a camera. Levels are 0..255, lengths px, angles radians. */
export type CameraRendering = {
  /** What black and white become. */
  readonly black: number
  readonly white: number
  readonly gamma: number
  /** Gain of red, green, blue. */
  readonly tint: readonly [number, number, number]
  /** How much of the camera's view the picture fills, along a side, and how it is turned. */
  readonly share: number
  readonly radians: number
  /** Paper or frame around it, in parts of a side, and its grey. */
  readonly border: { readonly share: number; readonly level: number }
  /** The colour of the wall behind. */
  readonly background: readonly [number, number, number]
  /** Dots of ink or pixels, and their slow beat with the camera's. */
  readonly grid: Wave
  readonly moire: Wave
  /** The most that a lamp's reflection adds. */
  readonly glare: number
  /** Change of the light from the left to the right side, in parts. */
  readonly lightGradient: number
  /** Standard deviation of the camera's noise, about. */
  readonly noise: number
  /** Where waves and reflections begin. */
  readonly phase: number
}

type Wave = { readonly depth: number; readonly period: number; readonly radians: number }

/** The camera's view of `frame` under `how`; as many pixels as the frame has. */
export function renderPresentation(
  frame: Frame,
  how: CameraRendering,
  random: RandomSource,
): Frame {
  const { width, height } = frame
  const pixels = new Uint8Array(width * height * 3)
  const cos = Math.cos(how.radians) / how.share
  const sin = Math.sin(how.radians) / how.share
  for (let y = 0, to = 0; y < height; y++)
    for (let x = 0; x < width; x++, to += 3) {
      const across = x / width - 0.5
      const down = y / height - 0.5
      const u = cos * across - sin * down
      const v = sin * across + cos * down
      const outside = Math.max(Math.abs(u), Math.abs(v)) - 0.5
      const light = 1 + how.lightGradient * across
      const glare = how.glare * Math.exp(-20 * ((u - 0.3 * Math.sin(how.phase)) ** 2 + v * v))
      for (let channel = 0; channel < 3; channel++) {
        const level =
          outside <= 0
            ? texelAt(frame, how, { u, v, channel }) + glare
            : outside < how.border.share
              ? how.border.level
              : (how.background[channel] ?? 0)
        // An even spread over √12 standard deviations.
        const noise = how.noise * 3.46 * (random() - 0.5)
        pixels[to + channel] = Math.max(0, Math.min(255, Math.round(level * light + noise)))
      }
    }
  return { width, height, pixels }
}

type TexelPosition = { readonly u: number; readonly v: number; readonly channel: number }

/** The picture itself at (u, v) of −0.5..0.5, in ink or on a screen. */
function texelAt(
  { width, height, pixels }: Frame,
  how: CameraRendering,
  { u, v, channel }: TexelPosition,
): number {
  const x = Math.min(width - 1, Math.max(0, (u + 0.5) * width - 0.5))
  const y = Math.min(height - 1, Math.max(0, (v + 0.5) * height - 0.5))
  const left = Math.floor(x)
  const top = Math.floor(y)
  const at = (column: number, row: number): number =>
    pixels[(Math.min(row, height - 1) * width + Math.min(column, width - 1)) * 3 + channel] ?? 0
  const upper = at(left, top) + (at(left + 1, top) - at(left, top)) * (x - left)
  const lower = at(left, top + 1) + (at(left + 1, top + 1) - at(left, top + 1)) * (x - left)
  const level = (upper + (lower - upper) * (y - top)) / 255
  const toned = how.black + (how.white - how.black) * level ** how.gamma
  // The three colours of a screen lie side by side: their grids are a third of a period apart.
  const shift = how.phase + (2 * Math.PI * channel) / 3
  const wave = ({ depth, period, radians }: Wave, from: number): number => {
    const along = Math.cos(radians) * u * width + Math.sin(radians) * v * height
    return 1 + depth * Math.sin((2 * Math.PI * along) / period + from)
  }
  return toned * (how.tint[channel] ?? 1) * wave(how.grid, shift) * wave(how.moire, shift)
}
