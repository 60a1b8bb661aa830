import assert from 'node:assert/strict'

/** Returns the squared Euclidean distance of two vectors of one length. */
export function squaredDistance(a: Float32Array, b: Float32Array): number {
  assert.equal(a.length, b.length)
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += ((a[index] ?? 0) - (b[index] ?? 0)) ** 2
  return sum
}

/** Returns the values of all `vectors`, one vector after another. */
export function concatenate(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const vector of vectors) {
    all.set(vector, offset)
    offset += vector.length
  }
  return all
}
