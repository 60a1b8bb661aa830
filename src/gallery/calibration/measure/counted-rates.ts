import { scoreAtFar } from './sorted-scores.ts'

/** The share of the pairs that exceed a score. */
export type RatePoint = { readonly score: number; readonly fmr: number }

/** Returns twenty points per power of ten, down to the rate of ten pairs, for a curve. */
export function countedRates(scores: Float32Array): RatePoint[] {
  const decades = Math.log10(scores.length / 10)
  const fmrs = Array.from(
    { length: Math.floor(decades * 20) },
    (_, step) => 10 ** (-(step + 1) / 20),
  )
  return fmrs.map((fmr) => ({ fmr, score: scoreAtFar(scores, fmr) }))
}
