import type { Mesh } from '../../landmarks/mesh.ts'
import { boundsOf } from '../../image/geometry.ts'
import { challengeLimits } from './challenge-limits.ts'
import type { ChallengeFacts } from './challenge-judgement.ts'
import type { ShownStep } from './judge-steps.ts'

/**
 * Returns the luma of the face in few pixels, base64. The bounds of the mesh place them, so that
 * moving, enlarging or rotating a picture hardly changes the result.
 */
export function faceFingerprint({ crop: { planes, width, height }, cropPoints }: Mesh): string {
  const size = width * height
  const bounds = boundsOf(cropPoints)
  const luma = new Float64Array(sidePx ** 2)
  const samplesPerSide = sidePx * samplesPerPx
  for (let row = 0; row < samplesPerSide; row++)
    for (let column = 0; column < samplesPerSide; column++) {
      const x = bounds.x + ((column + 0.5) / samplesPerSide) * bounds.width
      const y = bounds.y + ((row + 0.5) / samplesPerSide) * bounds.height
      const from = clamp(Math.floor(y), height - 1) * width + clamp(Math.floor(x), width - 1)
      const red = planes[from] ?? 0
      const green = planes[from + size] ?? 0
      const blue = planes[from + 2 * size] ?? 0
      const to = Math.floor(row / samplesPerPx) * sidePx + Math.floor(column / samplesPerPx)
      luma[to] = (luma[to] ?? 0) + 0.299 * red + 0.587 * green + 0.114 * blue
    }
  return Buffer.from(luma.map((sum) => Math.round(sum / samplesPerPx ** 2))).toString('base64')
}

function clamp(value: number, max: number): number {
  return Math.min(max, Math.max(0, value))
}

const sidePx = 32
/** Each pixel is the mean of this number of samples squared, which removes most of the noise. */
const samplesPerPx = 5

/**
 * Whether one picture is in two frames. Frames of a head that does not move are nearly equal; therefore
 * frames of one movement must only not be equal. A head that has moved in between does not return to
 * exactly the same place with the same look, so such frames must differ more than a picture and its
 * copy that was compressed again, moved or brightened. A turn to the other side must not be the mirror
 * image of a turn either.
 *
 * @param shown the step that each frame shows.
 */
export function hasRepeatedPicture(frames: readonly ChallengeFacts[], shown: readonly ShownStep[]) {
  const movements = movementNumbers(shown)
  return frames.some((frame, index) =>
    frames.slice(0, index).some((earlier, earlierIndex) => {
      if (frame.fingerprint === earlier.fingerprint) return true
      if (movements[index] === movements[earlierIndex]) return false
      if (areOppositeTurns(shown[index], shown[earlierIndex])) return isMirrored(frame, earlier)
      return isSamePicture(frame, earlier)
    }),
  )
}

function areOppositeTurns(a: ShownStep, b: ShownStep): boolean {
  return (a === 'turnLeft' && b === 'turnRight') || (a === 'turnRight' && b === 'turnLeft')
}

/** Numbers the movements: consecutive frames that show the same step have the same number. */
function movementNumbers(shown: readonly ShownStep[]): number[] {
  let number = 0
  return shown.map((step, index) => {
    if (index > 0 && step !== shown[index - 1]) number++
    return number
  })
}

function isSamePicture(a: ChallengeFacts, b: ChallengeFacts): boolean {
  const poseDifference = Math.max(Math.abs(a.yaw - b.yaw), Math.abs(a.pitch - b.pitch))
  const limits = challengeLimits.copies.filter(
    ({ poseDifferenceMin }) => poseDifference < poseDifferenceMin,
  )
  if (limits.length === 0) return false
  const correlation = pictureCorrelation(a.fingerprint, b.fingerprint)
  return limits.some(({ correlationMax }) => correlation > correlationMax)
}

/** One order of the comparison is sufficient here, and takes half the time. */
function isMirrored(a: ChallengeFacts, b: ChallengeFacts): boolean {
  const from = Buffer.from(a.fingerprint, 'base64')
  const to = mirrored(Buffer.from(b.fingerprint, 'base64'))
  return highestCorrelation(from, to) > challengeLimits.mirroredCorrelationMax
}

function mirrored(pixels: Uint8Array): Uint8Array {
  return pixels.map((_, i) => pixels[i - (i % sidePx) + sidePx - 1 - (i % sidePx)] ?? 0)
}

/**
 * Returns the highest correlation of two fingerprints over small shifts, rotations and scales, because
 * the mesh crop of a changed picture is not exactly at the same place. Brightness and contrast have no
 * effect.
 */
export function pictureCorrelation(a: string, b: string): number {
  const from = Buffer.from(a, 'base64')
  const to = Buffer.from(b, 'base64')
  // Only the second picture is shifted; the maximum over both orders does not depend on the order.
  return Math.max(highestCorrelation(from, to), highestCorrelation(to, from))
}

function highestCorrelation(fixed: Uint8Array, shifted: Uint8Array): number {
  const inner = sampleInner(fixed, { scale: 1, turn: 0, x: 0, y: 0 })
  let highest = -1
  for (const scale of [0.97, 1, 1.03])
    for (const turn of [-0.03, 0, 0.03])
      for (const x of [-1, -0.5, 0, 0.5, 1])
        for (const y of [-1, -0.5, 0, 0.5, 1]) {
          const sampled = sampleInner(shifted, { scale, turn, x, y })
          highest = Math.max(highest, correlationOf(inner, sampled))
        }
  return highest
}

/** Pixels at each side that a shifted sample may leave. */
const borderPx = 3

type SmallChange = {
  readonly scale: number
  /** Radians. */
  readonly turn: number
  readonly x: number
  readonly y: number
}

/** Samples the fingerprint without its border, after a small change of place. */
function sampleInner(pixels: Uint8Array, { scale, turn, x, y }: SmallChange): Float64Array {
  const size = sidePx - 2 * borderPx
  const centre = (sidePx - 1) / 2
  const values = new Float64Array(size * size)
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const across = column + borderPx - centre
      const down = row + borderPx - centre
      const u = across * scale - down * turn + centre + x
      const v = down * scale + across * turn + centre + y
      values[row * size + column] = pixelBetween(pixels, u, v)
    }
  return values
}

function pixelBetween(pixels: Uint8Array, u: number, v: number): number {
  const left = Math.floor(u)
  const top = Math.floor(v)
  const at = (column: number, row: number): number => pixels[row * sidePx + column] ?? 0
  const upper = at(left, top) + (at(left + 1, top) - at(left, top)) * (u - left)
  const lower = at(left, top + 1) + (at(left + 1, top + 1) - at(left, top + 1)) * (u - left)
  return upper + (lower - upper) * (v - top)
}

/** Returns Pearson's correlation. */
function correlationOf(a: Float64Array, b: Float64Array): number {
  const meanA = meanOf(a)
  const meanB = meanOf(b)
  let product = 0
  let squaresA = 0
  let squaresB = 0
  for (const [index, value] of a.entries()) {
    const x = value - meanA
    const y = (b[index] ?? 0) - meanB
    product += x * y
    squaresA += x * x
    squaresB += y * y
  }
  return squaresA === 0 || squaresB === 0 ? 1 : product / Math.sqrt(squaresA * squaresB)
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
