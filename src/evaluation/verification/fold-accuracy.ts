/** One labelled pair and its score; −∞ where a picture shows no face. */
export type ScoredPair = { readonly score: number; readonly same: boolean }

export type FoldAccuracy = {
  /** Mean over the folds, 0..1. */
  readonly accuracy: number
  /** Standard error of that mean. */
  readonly standardError: number
}

const foldCount = 10

/**
 * Accuracy as LFW's protocol has it: the threshold that is best on nine tenths of the pairs judges
 * the last tenth, ten times. Each kind of pair is dealt to the folds in turn.
 */
export function foldAccuracy(pairs: readonly ScoredPair[]): FoldAccuracy {
  const folds = splitIntoFolds(pairs)
  const accuracies = folds.map((fold) => {
    const threshold = bestThreshold(folds.filter((other) => other !== fold).flat())
    return fold.filter(({ score, same }) => score >= threshold === same).length / fold.length
  })
  const mean = accuracies.reduce((sum, value) => sum + value, 0) / foldCount
  const squares = accuracies.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { accuracy: mean, standardError: Math.sqrt(squares / foldCount / foldCount) }
}

function splitIntoFolds(pairs: readonly ScoredPair[]): ScoredPair[][] {
  const kinds = [true, false].map((same) => pairs.filter((pair) => pair.same === same))
  return Array.from({ length: foldCount }, (_, fold) =>
    kinds.flatMap((kind) => kind.filter((__, index) => index % foldCount === fold)),
  )
}

/** Midway between the two neighbouring scores that part the pairs best. */
function bestThreshold(pairs: readonly ScoredPair[]): number {
  const falling = pairs.toSorted((a, b) => b.score - a.score)
  let right = pairs.filter(({ same }) => !same).length
  let best = { right, threshold: Infinity }
  for (const [index, { score, same }] of falling.entries()) {
    right += same ? 1 : -1
    const next = falling[index + 1]?.score ?? -Infinity
    if (right > best.right && next < score)
      best = { right, threshold: Number.isFinite(next) ? (score + next) / 2 : score }
  }
  return best.threshold
}
