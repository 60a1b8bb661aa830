/** A template as scores see it: its vector, and how crowded the space about it is. */
export type Face = {
  readonly vector: Float32Array
  /** Mean score of the vector against its nearest impostors of a fixed cohort. */
  readonly density: number
}

/**
 * Density-corrected score s′ = −|a−b|² − ½(r(a) + r(b)); higher is more alike. Cross-domain
 * similarity local scaling (Conneau et al., 2018): faces that look like everybody match nobody.
 */
export function correctedScore(a: Face, b: Face): number {
  let squaredDistance = 0
  for (let at = 0; at < a.vector.length; at++) {
    const difference = (a.vector[at] ?? Number.NaN) - (b.vector[at] ?? Number.NaN)
    squaredDistance += difference * difference
  }
  return -squaredDistance - (a.density + b.density) / 2
}
