/** Returns numbers between 0 and 1, both excluded. The same seed gives the same sequence everywhere. */
export type RandomSource = () => number

/** Creates a SplitMix32 generator (Steele, Lea, Flood 2014, in its 32-bit form). */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    mixed ^= mixed >>> 15
    return ((mixed >>> 0) + 1) / (2 ** 32 + 1)
  }
}

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
