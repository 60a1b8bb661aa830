import assert from 'node:assert/strict'

/** A template as scores see it: its vector, and how crowded the space about it is. */
export type TemplateVector = {
  readonly vector: Float32Array
  /** Mean score of the vector against its nearest impostors of a fixed cohort. */
  readonly density: number
}

/**
 * Density-corrected score s′ = −|a−b|² − ½(r(a) + r(b)); higher is more alike. Cross-domain
 * similarity local scaling (Conneau et al., 2018): faces that look like everybody match nobody.
 */
export function correctedScore(a: TemplateVector, b: TemplateVector): number {
  return -squaredDistance(a.vector, b.vector) - (a.density + b.density) / 2
}

export function squaredDistance(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += ((a[at] ?? 0) - (b[at] ?? 0)) ** 2
  return sum
}
