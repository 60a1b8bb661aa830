import assert from 'node:assert/strict'

export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0)
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0)
  return Float32Array.from(sum, (value) => value / vectors.length)
}

export function squaredDistance(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += ((a[i] ?? 0) - (b[i] ?? 0)) ** 2
  return sum
}

/** Returns the values of all `vectors`, one vector after another. */
export function concatenate(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const vector of vectors) {
    all.set(vector, offset)
    offset += vector.length
  }
  return all
}
