import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'

/** Turns a vector in place; lengths and inner products stay as they are. */
export type Rotation = (vector: Float64Array) => void

export const seedBytes = 32

/**
 * An orthogonal map drawn from a seed, uniformly (by Haar's measure): the same seed gives the same
 * map on every machine, but for the last bits of logarithm and cosine.
 *
 * It is a product of reflections along normal vectors of fewer and fewer dimensions (Stewart 1980,
 * "The efficient generation of random orthogonal matrices with an application to condition
 * estimators"): making it costs as much as using it some times, where factoring a matrix would cost
 * hundreds of times as much, and it takes half of a matrix's memory.
 */
export function createRotation(seed: Buffer, dimensions: number): Rotation {
  assert.equal(seed.length, seedBytes)
  const normal = normals(seed, (dimensions * (dimensions + 1)) / 2)
  const signs = new Float64Array(dimensions)
  // The reflections one after the other, that of one dimension fewer first; each of length √2.
  const axes: Float64Array[] = []
  for (let at = dimensions - 1; at >= 0; at--) {
    const axis = Float64Array.from({ length: dimensions - at }, normal)
    signs[at] = makeReflection(axis)
    axes.push(axis)
  }
  return (vector) => {
    assert.equal(vector.length, dimensions)
    for (let at = 0; at < dimensions; at++) vector[at] = (vector[at] ?? 0) * (signs[at] ?? 1)
    for (const axis of axes) reflect(vector, axis)
  }
}

/**
 * Makes of a normal vector x the axis of the reflection that takes it to the first dimension.
 *
 * @returns the sign that makes the product of all reflections uniform.
 */
function makeReflection(axis: Float64Array): number {
  const first = axis[0] ?? 0
  const sign = first < 0 ? -1 : 1
  axis[0] = first + sign * length(axis)
  const scale = Math.SQRT2 / length(axis)
  // In one dimension there is nothing to reflect but the sign itself.
  const isLast = axis.length === 1
  for (let at = 0; at < axis.length; at++) axis[at] = isLast ? 0 : (axis[at] ?? 0) * scale
  return isLast ? sign : -sign
}

/** v − a·(a·v), on the last dimensions, as many as the axis has. */
function reflect(vector: Float64Array, axis: Float64Array): void {
  const from = vector.length - axis.length
  let product = 0
  for (let at = 0; at < axis.length; at++) product += (axis[at] ?? 0) * (vector[from + at] ?? 0)
  for (let at = 0; at < axis.length; at++)
    vector[from + at] = (vector[from + at] ?? 0) - product * (axis[at] ?? 0)
}

function length(vector: Float64Array): number {
  let squared = 0
  for (const value of vector) squared += value * value
  return Math.sqrt(squared)
}

/**
 * Normal numbers out of the key stream of the seed (AES-256 in counter mode), by Box and Muller.
 * Their way that rejects some would let a last bit decide which number comes next.
 */
function normals(seed: Buffer, count: number): () => number {
  const cipher = createCipheriv('aes-256-ctr', seed, Buffer.alloc(16))
  const stream = cipher.update(Buffer.alloc(Math.ceil(count / 2) * 16))
  let at = 0
  const uniform = (): number => {
    const high = stream.readUInt32LE(at)
    const low = stream.readUInt32LE(at + 4) >>> 11
    at += 8
    return (high * 2 ** 21 + low + 0.5) / 2 ** 53
  }
  let spare: number | undefined
  return () => {
    if (spare !== undefined) {
      const value = spare
      spare = undefined
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()))
    const angle = 2 * Math.PI * uniform()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}
