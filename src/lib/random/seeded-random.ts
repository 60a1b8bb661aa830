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
