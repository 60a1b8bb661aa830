import assert from 'node:assert/strict'

/** The part of a template that scores are computed from. */
export type TemplateVector = {
  readonly vector: Float32Array
  /** Mean score of the vector against its nearest impostors of a fixed cohort. */
  readonly density: number
}

/**
 * Returns the density-corrected score s′ = −|a−b|² − ½(r(a) + r(b)), where r is the density. A
 * higher score means more similar. This is cross-domain similarity local scaling (Conneau et al.,
 * 2018): a face that is similar to very many faces gets lower scores.
 */
export function correctedScore(a: TemplateVector, b: TemplateVector): number {
  return -squaredDistance(a.vector, b.vector) - (a.density + b.density) / 2
}

/** Whether two templates were created from the same pixels by the same model. */
export function isIdentical(a: TemplateVector, b: TemplateVector): boolean {
  return a.density === b.density && squaredDistance(a.vector, b.vector) === 0
}

export function squaredDistance(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += ((a[index] ?? 0) - (b[index] ?? 0)) ** 2
  return sum
}

/** The vision pipeline returns 128 to 512; the integer sums of the scan kernel allow 1024. */
const dimensionsMax = 1_024
/** Far above the values of any embedding; its square is far below the largest float32. */
const valueMax = 1e15

/** @throws AssertionError if the index cannot store the vector or the scan cannot compare it. */
export function assertTemplateVector({ vector, density }: TemplateVector): void {
  assert.ok(vector.length > 0 && vector.length <= dimensionsMax, `${vector.length} dimensions`)
  assert.ok(Math.abs(density) <= valueMax, 'the density is a finite number')
  for (let index = 0; index < vector.length; index++)
    if (!(Math.abs(vector[index] ?? Number.NaN) <= valueMax)) assert.fail('all values are finite')
}
