/**
 * A match is ambiguous if the false-match rate of the next subject is less than 10^1.5 times, about 30
 * times, that of the best one. It flags 62 to 91 % of the wrong matches of drawn look-alikes, and 1.1 % of
 * the right matches among 217 subjects (`node eval/subjects/measure-ambiguity.ts`).
 */
export const ambiguousStepsMax = 1.5

/** Whether a face matches, and the next subject is so near that it is likely to be the right one. */
export function isAmbiguous(
  threshold: number,
  [best, next]: readonly { readonly similarity: number }[],
): boolean {
  if (!best || !next || best.similarity < threshold) return false
  return rateSteps(best.similarity) - rateSteps(next.similarity) < ambiguousStepsMax
}

/** Similarity, and the rate of false matches that reach it, as a negative power of ten. */
const scale = [
  { similarity: 0, steps: 0 },
  { similarity: 0.5, steps: 1 },
  { similarity: 0.9, steps: 5 },
  { similarity: 0.95, steps: 6 },
  // No rate was measured here. The scores of the shipped table rise by 2.25 steps of its last rates.
  { similarity: 1, steps: 8.25 },
] as const

/**
 * Returns −log10 of the false-match rate at a similarity: the scale of `anchors` in
 * gallery/calibration/similarity.ts, continued to 1. Differences of similarities themselves mean less
 * above 0.90, where a power of ten takes 0.05.
 */
export function rateSteps(similarity: number): number {
  const above = Math.max(
    1,
    scale.findIndex((knot) => knot.similarity >= similarity),
  )
  const [from, to] = [scale[above - 1] ?? scale[0], scale[above] ?? scale[4]]
  const share = (similarity - from.similarity) / (to.similarity - from.similarity)
  return from.steps + share * (to.steps - from.steps)
}
