/** A rate of a table: the similarity that stands for it, and the score at which it is reached. */
export type TablePoint = {
  readonly fmr: number
  readonly similarity: number
  readonly score: number
}

/** A table that can be compared with another one of the same model. */
export type ScoreTable = readonly TablePoint[]

/** A threshold and the scores at which faces match, before and after a change of the table. */
export type ThresholdMove = {
  readonly similarity: number
  readonly scoreBefore: number
  readonly scoreAfter: number
}

/** Thresholds below this similarity are rarely used. */
const thresholdMin = 0.7

/** Returns how the common thresholds move. Each is a rate that both tables contain. */
export function thresholdMoves(before: ScoreTable, after: ScoreTable): readonly ThresholdMove[] {
  return after.flatMap(({ fmr, similarity, score: scoreAfter }) => {
    const scoreBefore = before.find((point) => point.fmr === fmr)?.score
    return scoreBefore === undefined || similarity < thresholdMin
      ? []
      : [{ similarity, scoreBefore, scoreAfter }]
  })
}

type TableCurve = readonly (readonly [x: number, y: number])[]

/** Interpolates on a line of ascending points; beyond its ends, the outer segments continue. */
function valueAt(line: TableCurve, x: number): number {
  const reached = line.findIndex(([end]) => end >= x)
  const upper = Math.max(1, reached === -1 ? line.length - 1 : reached)
  const [fromX, fromY] = line[upper - 1] ?? [0, 0]
  const [toX, toY] = line[upper] ?? [fromX, fromY]
  return toX === fromX ? toY : fromY + ((x - fromX) / (toX - fromX)) * (toY - fromY)
}

const ascending = (points: TableCurve): TableCurve => points.toSorted(([a], [b]) => a - b)

/** Returns the similarity with another table of a pair that has this similarity. */
export function similarityAfter(before: ScoreTable, after: ScoreTable, similarity: number): number {
  const score = valueAt(
    ascending(before.map((point) => [point.similarity, point.score])),
    similarity,
  )
  return valueAt(ascending(after.map((point) => [point.score, point.similarity])), score)
}

type ScoreBins = { readonly edges: readonly number[]; readonly counts: readonly number[] }

export type ChangedDecisions = { readonly total: number; readonly changed: number }

/**
 * Estimates how many logged similarities are on the other side of a threshold with another table. The
 * middle of a bin stands for all its similarities.
 */
export function changedDecisions(
  { edges, counts }: ScoreBins,
  tables: { readonly before: ScoreTable; readonly after: ScoreTable },
  threshold: number,
): ChangedDecisions {
  let [total, changed] = [0, 0]
  for (const [index, count] of counts.entries()) {
    const middle = ((edges[index] ?? 0) + (edges[index + 1] ?? 0)) / 2
    const isMatch = middle >= threshold
    const isMatchAfter = similarityAfter(tables.before, tables.after, middle) >= threshold
    total += count
    if (isMatch !== isMatchAfter) changed += count
  }
  return { total, changed }
}
