/** One labelled pair and its score; −∞ if an image shows no face. */
export type ScoredPair = { readonly score: number; readonly same: boolean }

const foldCount = 10

/**
 * Measures accuracy as the LFW protocol defines it. The threshold that is best on nine tenths of the
 * pairs classifies the last tenth, ten times. Pairs of one person and of two people are distributed
 * to the folds evenly.
 *
 * @returns the mean over the folds, 0..1, and the standard error of that mean.
 */
export function foldAccuracy(pairs: readonly ScoredPair[]) {
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

/** Returns the middle between the two neighbouring scores that separate the pairs best. */
function bestThreshold(pairs: readonly ScoredPair[]): number {
  const descending = pairs.toSorted((a, b) => b.score - a.score)
  let correct = pairs.filter(({ same }) => !same).length
  let best = { correct, threshold: Infinity }
  for (const [index, { score, same }] of descending.entries()) {
    correct += same ? 1 : -1
    const next = descending[index + 1]?.score ?? -Infinity
    if (correct > best.correct && next < score)
      best = { correct, threshold: Number.isFinite(next) ? (score + next) / 2 : score }
  }
  return best.threshold
}
