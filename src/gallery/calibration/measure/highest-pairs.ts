/** A pair of templates by their indexes. */
export type RankedPair = { readonly score: number; readonly a: number; readonly b: number }

/** Collects the highest of many scored pairs: at least `capacity` of them. */
export function createHighestPairs(capacity: number) {
  const size = capacity * 2
  const scores = new Float64Array(size)
  const first = new Int32Array(size)
  const second = new Int32Array(size)
  let count = 0
  let cutoff = -Infinity
  const at = (index: number): RankedPair => ({
    score: scores[index] ?? 0,
    a: first[index] ?? 0,
    b: second[index] ?? 0,
  })
  const set = (index: number, { score, a, b }: RankedPair): void => {
    scores[index] = score
    first[index] = a
    second[index] = b
  }
  const descending = (): RankedPair[] =>
    Array.from({ length: count }, (_, index) => at(index)).toSorted((x, y) => y.score - x.score)
  const dropLowest = (): void => {
    const kept = descending().slice(0, capacity)
    for (const [index, pair] of kept.entries()) set(index, pair)
    count = kept.length
    cutoff = kept.at(-1)?.score ?? cutoff
  }
  return {
    add: (score: number, a: number, b: number): void => {
      if (score <= cutoff) return
      if (count === size) dropLowest()
      set(count++, { score, a, b })
    },
    /** Returns the pairs that reach a score, the highest first. At most the capacity are kept. */
    from: (score: number): RankedPair[] => descending().filter((pair) => pair.score >= score),
  }
}
