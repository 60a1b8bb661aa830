/** Numbers in 0..1, never 0 itself; the same sequence for the same seed, on every machine. */
export type RandomSource = () => number

/** SplitMix32 (Steele, Lea, Flood 2014, in its 32-bit form). */
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

/** `count` different numbers of 0..size − 1. */
export function pickDistinct(random: RandomSource, size: number, count: number): number[] {
  const picked = new Set<number>()
  while (picked.size < count) picked.add(Math.min(size - 1, Math.floor(random() * size)))
  return [...picked]
}

/** `items` in random order (Fisher–Yates). */
export function shuffled<T>(random: RandomSource, items: readonly T[]): T[] {
  const left = [...items]
  return items.flatMap(() =>
    left.splice(Math.min(left.length - 1, Math.floor(random() * left.length)), 1),
  )
}

/** Shares that sum to 1, from Dirichlet(`shape`, `shape`, …) with a whole `shape`. */
export function dirichlet(random: RandomSource, count: number, shape: number): number[] {
  const gammas = Array.from({ length: count }, () => gamma(random, shape))
  const sum = gammas.reduce((total, value) => total + value, 0)
  return gammas.map((value) => value / sum)
}

/** A gamma variable of whole `shape` is the sum of that many exponential ones. */
function gamma(random: RandomSource, shape: number): number {
  let sum = 0
  for (let i = 0; i < shape; i++) sum -= Math.log(random())
  return sum
}
