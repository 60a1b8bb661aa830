import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import type { RecognizerPair } from './score-both.ts'

/** Returns the score that a rule gives to a pair. */
export type PairRule = (pair: RecognizerPair) => number

/** The scores of all pairs by one rule, in falling order, and the people of each. */
export type RankedPairs = {
  readonly scores: Float64Array
  /** Indexes of the people of each pair. */
  readonly first: Uint16Array
  readonly second: Uint16Array
  readonly people: number
}

/** Ranks the pairs by the score of the rule. */
export function rankPairs(pairs: readonly RecognizerPair[], rule: PairRule): RankedPairs {
  const names = [...new Set(pairs.flatMap(({ people }) => people))]
  const indexOf = new Map(names.map((name, index) => [name, index]))
  const ranked = pairs
    .map(({ people: [a, b], ...scores }) => ({
      score: rule({ people: [a, b], ...scores }),
      first: indexOf.get(a) ?? 0,
      second: indexOf.get(b) ?? 0,
    }))
    .toSorted((a, b) => b.score - a.score)
  return {
    scores: Float64Array.from(ranked, ({ score }) => score),
    first: Uint16Array.from(ranked, ({ first }) => first),
    second: Uint16Array.from(ranked, ({ second }) => second),
    people: names.length,
  }
}

/** Returns the score that the share `rate` of the pairs of different people exceeds. */
export function scoreAtRate(ranked: RankedPairs, rate: number): number {
  const { scores, first, second } = ranked
  const impostors = scores.filter((_, index) => first[index] !== second[index])
  return impostors[Math.floor(rate * impostors.length)] ?? -Infinity
}

/**
 * Returns the share of the pairs of one person above the score of each rate of false matches.
 *
 * @param weights how often a sample of the people contains each of them; default: each once.
 */
export function sharesAtRates(
  { scores, first, second, people }: RankedPairs,
  rates: readonly number[],
  weights: ArrayLike<number> = new Uint8Array(people).fill(1),
): number[] {
  const weightOf = (index: number): number => {
    const weight = weights[first[index] ?? 0] ?? 0
    return first[index] === second[index] ? weight : weight * (weights[second[index] ?? 0] ?? 0)
  }
  const total = { genuine: 0, impostor: 0 }
  for (let index = 0; index < scores.length; index++)
    total[first[index] === second[index] ? 'genuine' : 'impostor'] += weightOf(index)
  const shares = rates.map(() => 1)
  const limits = rates.map((rate) => Math.floor(rate * total.impostor))
  const above = { genuine: 0, impostor: 0 }
  let pending = new Set(rates.keys())
  for (let index = 0; index < scores.length && pending.size > 0; index++) {
    const isGenuine = first[index] === second[index]
    above[isGenuine ? 'genuine' : 'impostor'] += weightOf(index)
    for (const rate of isGenuine ? [] : pending)
      if (above.impostor > (limits[rate] ?? 0)) {
        shares[rate] = above.genuine / total.genuine
        pending = new Set([...pending].filter((other) => other !== rate))
      }
  }
  return shares
}

/** Draws as many people as there are, with replacement, and returns how often each was drawn. */
export function resamplePeople(count: number, random: RandomSource): Uint8Array {
  const weights = new Uint8Array(count)
  for (let draw = 0; draw < count; draw++) {
    const person = Math.floor(random() * count)
    weights[person] = (weights[person] ?? 0) + 1
  }
  return weights
}
