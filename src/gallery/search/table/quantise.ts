/**
 * Codes of vectors, and bounds on what the codes lose.
 *
 * The scan must not miss a row that the exact score would find, so it orders rows by an upper bound
 * of 2·a·b − |b|² − ½r(b), which is the score up to what depends on the probe a alone. With ã and b̃
 * the vectors that the codes stand for, Cauchy and Schwarz give
 *   2·a·b ≤ 2·ã·b̃ + 2·|a|·|b − b̃| + 2·|a − ã|·|b̃|.
 * A row keeps slack ≥ max(|b − b̃|, |b| / 256), a probe has reach ≥ 2·(|a| + 512·|a − ã|), and
 * slack × reach covers both last terms. Rounding in float32 is covered by `roundingMargin`.
 */

/** What the scan has to know of a row besides its codes; all are float32 values. */
export type RowCodeMetadata = {
  /** Value of one step of the codes. */
  readonly scale: number
  /** −|b|² − ½r(b), rounded up. */
  readonly bias: number
  /** Length of what the codes lose of the vector, or more. */
  readonly slack: number
}

/** What the scan has to know of a probe besides its codes; both are float32 values. */
export type ProbeCodeMetadata = {
  /** Twice the value of one step of the codes. */
  readonly gain: number
  readonly reach: number
}

/** Symmetric: −128 is not used, so that the codes of −b are those of b with another sign. */
const rowCodeMax = 127
const probeCodeMax = 32_767

/** The kernel's sums are 32-bit integers: Σ|probe code| × 127 must stay below 2³¹. */
const probeCodeSumMax = Math.floor((2 ** 31 - 1) / rowCodeMax)

/** The kernel rounds to float32 some eight times, by 2⁻²⁴ each; this is twice as much. */
const roundingMargin = 2 ** -20

/** More than all that denormal numbers can lose. */
const denormalMargin = 1e-30

/** Fills `codes` (int8; zeros beyond the vector's length) and says what they mean. */
export function quantiseRow(
  vector: Float32Array,
  density: number,
  codes: Int8Array,
): RowCodeMetadata {
  const scale = Math.fround(largestMagnitude(vector) / rowCodeMax)
  const step = scale || 1
  let lost = 0
  let squared = 0
  for (let at = 0; at < vector.length; at++) {
    const value = vector[at] ?? 0
    const code = clamp(Math.round(value / step), rowCodeMax)
    codes[at] = code
    lost += (value - code * scale) ** 2
    squared += value * value
  }
  const bias = -squared - density / 2
  const margin = (squared + Math.abs(density)) * roundingMargin + denormalMargin
  const slack = Math.max(Math.sqrt(lost), Math.sqrt(squared) / 256) * (1 + roundingMargin)
  return { scale, bias: Math.fround(bias + margin), slack: Math.fround(slack) }
}

/** Fills `codes` (int16; zeros beyond the vector's length) and says what they mean. */
export function quantiseProbe(vector: Float32Array, codes: Int16Array): ProbeCodeMetadata {
  let sum = 0
  for (const value of vector) sum += Math.abs(value)
  // Half a step of rounding in each dimension is left room for.
  const sumMax = probeCodeSumMax - vector.length
  const gain = Math.fround(2 * Math.max(largestMagnitude(vector) / probeCodeMax, sum / sumMax))
  const step = gain / 2 || 1
  let lost = 0
  let squared = 0
  for (let at = 0; at < vector.length; at++) {
    const value = vector[at] ?? 0
    const code = clamp(Math.round(value / step), probeCodeMax)
    codes[at] = code
    lost += (value - (code * gain) / 2) ** 2
    squared += value * value
  }
  // Slack is at least |b| / 256, so that 2⁻¹⁰ here covers the rounding of terms of size |a|·|b|.
  const reach = 2 * (Math.sqrt(squared) * (1 + 2 ** -10) + 512 * Math.sqrt(lost))
  return { gain, reach: Math.fround(reach) }
}

function largestMagnitude(vector: Float32Array): number {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}

function clamp(code: number, most: number): number {
  return Math.max(-most, Math.min(most, code))
}
