/**
 * Integer codes for vectors, and bounds for their rounding errors.
 *
 * The scan must not miss a row that exact scoring would find. It therefore orders rows by an upper
 * bound of 2·a·b − |b|² − ½r(b), which is the score without the terms of the probe a. Let ã and b̃
 * be the vectors that the codes represent. By the Cauchy–Schwarz inequality,
 *   2·a·b ≤ 2·ã·b̃ + 2·|a|·|b − b̃| + 2·|a − ã|·|b̃|.
 * A row has slack ≥ max(|b − b̃|, |b| / 256), and a probe has reach ≥ 2·(|a| + 512·|a − ã|), so that
 * slack × reach is at least the sum of the last two terms.
 *
 * `quantise.wat` computes the codes of rows:
 * - The scale is a 127th of the largest magnitude of b. Codes are symmetric: −128 is not used, so that
 *   the codes of −b are the negated codes of b. A scale is at least 2⁻¹⁰⁰, far below the steps of any
 *   embedding: all codes of a smaller vector are 0, and no code exceeds 127.
 * - The bias is −|b|² − ½r(b), plus 2⁻²⁰ of the sum of both magnitudes. The kernel that scans rounds to
 *   float32 about eight times, by 2⁻²⁴ each; this is twice the sum. Another 10⁻³⁰ is larger than any
 *   rounding error of denormal numbers.
 */

/** The largest code of a row. */
const rowCodeMax = 127
const probeCodeMax = 32_767

/** The kernel adds 32-bit integers: Σ|probe code| × 127 must stay below 2³¹. */
const probeCodeSumMax = Math.floor((2 ** 31 - 1) / rowCodeMax)

/**
 * Writes the int16 `codes`; those beyond the vector's length stay 0.
 *
 * @returns what the scan needs besides them, as float32 values; `gain` as in `roundProbe`.
 */
export function quantiseProbe(vector: Float32Array, codes: Int16Array) {
  const { gain, squared, squaredError } = roundProbe(vector, codes)
  // Slack is at least |b| / 256, so that 2⁻¹⁰ here covers the rounding of terms of size |a|·|b|.
  const reach = 2 * (Math.sqrt(squared) * (1 + 2 ** -10) + 512 * Math.sqrt(squaredError))
  return { gain, reach: Math.fround(reach) }
}

/**
 * Writes int16 `codes` whose sums with int8 codes cannot overflow.
 *
 * @returns `gain`, twice the value of one step of the codes, a float32 value; `squared`, |a|²; and
 *   `squaredError`, |a − ã|².
 */
export function roundProbe(vector: Float32Array, codes: Int16Array) {
  let sum = 0
  for (const value of vector) sum += Math.abs(value)
  // Leaves room for half a step of rounding in each dimension.
  const sumMax = probeCodeSumMax - vector.length
  const gain = Math.fround(2 * Math.max(largestMagnitude(vector) / probeCodeMax, sum / sumMax))
  const step = gain / 2 || 1
  let squaredError = 0
  let squared = 0
  for (let index = 0; index < vector.length; index++) {
    const value = vector[index] ?? 0
    const code = Math.max(-probeCodeMax, Math.min(probeCodeMax, Math.round(value / step)))
    codes[index] = code
    squaredError += (value - (code * gain) / 2) ** 2
    squared += value * value
  }
  return { gain, squared, squaredError }
}

function largestMagnitude(vector: Float32Array): number {
  let max = 0
  for (let index = 0; index < vector.length; index++)
    max = Math.max(max, Math.abs(vector[index] ?? 0))
  return max
}
