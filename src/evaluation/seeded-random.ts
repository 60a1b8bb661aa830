import type { RandomSource } from '../lib/random/seeded-random.ts'

export { seededRandom, type RandomSource } from '../lib/random/seeded-random.ts'

/** Returns `count` different integers of 0..size − 1. */
export function pickDistinct(random: RandomSource, size: number, count: number): number[] {
  const picked = new Set<number>()
  while (picked.size < count) picked.add(Math.min(size - 1, Math.floor(random() * size)))
  return [...picked]
}

/** Returns `items` in random order (Fisher–Yates). */
export function shuffled<T>(random: RandomSource, items: readonly T[]): T[] {
  const remaining = [...items]
  return items.flatMap(() =>
    remaining.splice(Math.min(remaining.length - 1, Math.floor(random() * remaining.length)), 1),
  )
}

/** Returns shares that sum to 1, drawn from Dirichlet(`shape`, `shape`, …); `shape` is an integer. */
export function dirichlet(random: RandomSource, count: number, shape: number): number[] {
  const gammas = Array.from({ length: count }, () => gamma(random, shape))
  const sum = gammas.reduce((total, value) => total + value, 0)
  return gammas.map((value) => value / sum)
}

/** A gamma variable with integer `shape` is the sum of that many exponential variables. */
function gamma(random: RandomSource, shape: number): number {
  let sum = 0
  for (let i = 0; i < shape; i++) sum -= Math.log(random())
  return sum
}
