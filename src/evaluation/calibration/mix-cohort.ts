import assert from 'node:assert/strict'
import { dirichlet, pickDistinct } from '../seeded-random.ts'
import type { RandomSource } from '../seeded-random.ts'
import { concatenate, meanOf, squaredDistance } from './vectors.ts'

/** Each row of a cohort mixes this many different people. */
const peoplePerRow = 3
/** Of the Dirichlet distribution of the shares: about even, with room for variety. */
const dirichletShape = 4

/**
 * No row is nearer to any picture of anyone than this, squared, in units of the squared deviation of
 * people from their mean: two people are about 2 apart there, two pictures of one person 0.6.
 *
 * Without the rule the nearest row lay at 0.06 of one of its three: that person's template, nearly.
 * With it the TAR at FMR 1e-4 is 0 to 1 % lower, as the splits fall; at 1e-5 it is the same.
 */
const distanceMin = 0.45

export type MixedCohort = {
  /** Row by row. */
  readonly rows: Float32Array
  /** Squared distance of the row and the picture that are nearest. */
  readonly nearest: number
}

/**
 * Makes strangers out of people: each row mixes the vectors of three different people, and its
 * deviation from the mean is stretched to that of a single person.
 *
 * @param vectors of all pictures; the first picture of each person is mixed.
 * @param people who each picture shows.
 */
export function mixCohort(
  vectors: readonly Float32Array[],
  people: readonly string[],
  rowCount: number,
  random: RandomSource,
): MixedCohort {
  const singles = vectors.filter((_, index) => people.indexOf(people[index] ?? '') === index)
  const mean = meanOf(singles)
  const deviation =
    singles.reduce((sum, single) => sum + Math.sqrt(squaredDistance(single, mean)), 0) /
    singles.length
  const rows: Float32Array[] = []
  let nearest = Infinity
  for (let tries = 0; rows.length < rowCount; tries++) {
    assert.ok(tries < 100 * rowCount, 'people are far enough apart to be mixed')
    const row = scaleDeviation(mix(singles, random), mean, deviation)
    const distance = Math.min(...vectors.map((vector) => squaredDistance(vector, row)))
    if (distance < distanceMin * deviation ** 2) continue
    rows.push(row)
    nearest = Math.min(nearest, distance)
  }
  return { rows: concatenate(rows), nearest }
}

function mix(singles: readonly Float32Array[], random: RandomSource): Float32Array {
  const chosen = pickDistinct(random, singles.length, peoplePerRow)
  const shares = dirichlet(random, peoplePerRow, dirichletShape)
  const sum = new Float32Array(singles[0]?.length ?? 0)
  for (const [index, share] of shares.entries())
    singles[chosen[index] ?? 0]?.forEach((value, at) => (sum[at] = (sum[at] ?? 0) + share * value))
  return sum
}

function scaleDeviation(vector: Float32Array, mean: Float32Array, length: number): Float32Array {
  const factor = length / Math.sqrt(squaredDistance(vector, mean))
  return vector.map((value, i) => (mean[i] ?? 0) + (value - (mean[i] ?? 0)) * factor)
}
