/** A pair that a threshold is most likely to classify against its label. */
export type ExtremePair = {
  readonly fileA: string
  readonly fileB: string
  readonly score: number
  /** Null without a calibration table. */
  readonly similarity: number | null
}

/** Indexes of two faces, and their score. */
export type ScoredIndexes = { readonly a: number; readonly b: number; readonly score: number }

/** The number of pairs that are listed by name. */
export const extremePairsMax = 20

/**
 * Collects the pairs with the highest or lowest scores. Its memory does not depend on the number of
 * pairs.
 */
export function createExtremePairs(which: 'highest' | 'lowest'): {
  readonly add: (a: number, b: number, score: number) => void
  /** The most extreme pair first. */
  readonly list: () => readonly ScoredIndexes[]
} {
  const sign = which === 'highest' ? 1 : -1
  const pairs: ScoredIndexes[] = []
  let limit = -Infinity
  return {
    add: (a, b, score) => {
      if (sign * score <= limit) return
      const index = pairs.findIndex((pair) => sign * pair.score < sign * score)
      pairs.splice(index === -1 ? pairs.length : index, 0, { a, b, score })
      if (pairs.length > extremePairsMax) pairs.pop()
      if (pairs.length === extremePairsMax) limit = sign * (pairs.at(-1)?.score ?? 0)
    },
    list: () => pairs,
  }
}
