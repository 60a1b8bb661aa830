/** A score to mark in a chart, such as that of a threshold. */
export type ScoreMark = { readonly label: string; readonly score: number }

/**
 * Returns the lines of marks. The label of the lowest is at its left and that of the others at their
 * right, so that the labels of two marks never overlap.
 */
export function toReferenceLines(marks: readonly ScoreMark[]) {
  return marks
    .toSorted((a, b) => a.score - b.score)
    .map(({ label, score }, index) => ({
      score,
      label,
      color: 'gray.6',
      labelPosition:
        index === 0 && marks.length > 1 ? ('insideTopRight' as const) : ('insideTopLeft' as const),
    }))
}
