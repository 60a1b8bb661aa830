import { createHash } from 'node:crypto'

/** Returns a direction that depends on the seed only, with unit length. */
export function randomDirection(seed: string, dimensions: number): number[] {
  const values: number[] = []
  for (let block = 0; values.length < dimensions; block++) {
    const bytes = createHash('sha512').update(`${seed} ${block}`).digest()
    for (let offset = 0; offset < bytes.length; offset += 4) values.push(bytes.readInt32LE(offset))
  }
  return [...normalize(values)]
}

export function normalize(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}
