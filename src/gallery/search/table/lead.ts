import { leadAxisCount, type LeadAxes } from '../scan/row-layout.ts'
import { roundProbe } from './quantise.ts'

/**
 * The lead of a row: the codes of a part of the axes, from which the scan computes a
 * cheaper upper bound than from all codes. Most rows are excluded by it and are not read further.
 *
 * Let L be the lead axes and R the other ones. By the Cauchy–Schwarz inequality,
 *   2·a·b ≤ 2·ã_L·b̃_L + 2·|a_L|·|b_L − b̃_L| + 2·|a_L − ã_L|·|b̃_L| + 2·|a_R|·|b_R|.
 * A code differs from its value by at most half a step, so |b_L − b̃_L| ≤ √80·scale/2, and
 * |b̃_L| ≤ 127·√80·scale. The second and third term are therefore at most scale × scale reach, and the
 * fourth is at most rest × rest reach. The bound holds for every choice of axes. The choice only
 * determines how many rows it excludes. `quantise.wat` computes the leads of rows. A scale is at least
 * 2⁻¹⁰⁰; values below its steps have the code 0, within half a step.
 */

const codeMax = 127
/** The kernel rounds these terms to float32 about six times, by 2⁻²⁴ each; this is more. */
const roundingMargin = 2 ** -20
const rootOfAxes = Math.sqrt(leadAxisCount)

/** Writes the int16 `codes` of a probe for the lead axes. @returns what else the scan needs, in float32. */
export function quantiseLeadProbe(vector: Float32Array, axes: LeadAxes, codes: Int16Array) {
  let all = 0
  for (const value of vector) all += value * value
  const leadVector = Float32Array.from(axes, (axis) => vector[axis] ?? 0)
  const { gain, squared, squaredError } = roundProbe(leadVector, codes)
  leadVector.fill(0)
  const rest = Math.sqrt(Math.max(0, all - squared) + all * 2 ** -40)
  const margin = 1 + roundingMargin
  // 2⁻¹⁰ covers the rounding of the product of the codes, which is at most 2·|ã_L|·127·√80·scale.
  const scaleReach =
    rootOfAxes *
    (Math.sqrt(squared) * (1 + 2 ** -10) + 2 * codeMax * (1 + 2 ** -10) * Math.sqrt(squaredError))
  return {
    gain,
    restReach: Math.fround(2 * rest * margin),
    scaleReach: Math.fround(scaleReach * margin),
  }
}
