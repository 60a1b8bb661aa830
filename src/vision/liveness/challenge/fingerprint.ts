import type { Mesh } from '../../landmarks/mesh.ts'
import { challengeLimits } from './challenge-limits.ts'
import type { ChallengeFacts } from './challenge.ts'
import type { ShownStep } from './judge-steps.ts'

/**
 * Returns the luma of the face in few pixels, base64. The mesh crop follows the face, so that moving,
 * enlarging or rotating a picture hardly changes the result.
 */
export function faceFingerprint({ crop: { planes, width, height } }: Mesh): string {
  const size = width * height
  const cell = width / sidePx
  const sums = new Float64Array(sidePx ** 2)
  for (let i = 0; i < size; i++) {
    const red = planes[i] ?? 0
    const green = planes[i + size] ?? 0
    const blue = planes[i + 2 * size] ?? 0
    const index = Math.floor(i / width / cell) * sidePx + Math.floor((i % width) / cell)
    sums[index] = (sums[index] ?? 0) + 0.299 * red + 0.587 * green + 0.114 * blue
  }
  return Buffer.from(sums.map((sum) => Math.round(sum / cell ** 2))).toString('base64')
}

/** Each pixel is the mean of 6 × 6 pixels of the mesh crop, which removes most of the noise. */
const sidePx = 32

/**
 * Whether one picture is in two frames. A person who holds still has nearly equal frames; therefore
 * frames of one movement must only not be equal. The head of a person that has moved in between is
 * never in exactly the former position, so such frames must differ more than a picture that was
 * compressed again, moved or brightened.
 *
 * @param shown the step that each frame shows.
 */
export function hasRepeatedPicture(
  frames: readonly ChallengeFacts[],
  shown: readonly ShownStep[],
): boolean {
  const movements = movementNumbers(shown)
  return frames.some((frame, index) =>
    frames.slice(0, index).some((earlier, earlierIndex) => {
      if (frame.fingerprint === earlier.fingerprint) return true
      return movements[index] !== movements[earlierIndex] && isSamePicture(frame, earlier)
    }),
  )
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
  return (
    correlationOf(readPixels(a.fingerprint), readPixels(b.fingerprint)) >=
    challengeLimits.pictureCorrelationMax
  )
}

function readPixels(fingerprint: string): Uint8Array {
  return Buffer.from(fingerprint, 'base64')
}

/** Returns Pearson's correlation, which brightness and contrast do not change. */
function correlationOf(a: Uint8Array, b: Uint8Array): number {
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

function meanOf(values: Uint8Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
