/** The number of intervals between the values of an axis, at most. */
const intervalsMax = 5

/** The width of one character of a label, px. Labels consist of digits and short words. */
const characterWidthPx = 7
const labelGapPx = 14

/**
 * Returns round values from 0 to at least `max`, all at the same distance.
 *
 * @param isWhole whether fractions have no meaning, as for counts
 */
export function axisTicks(max: number, isWhole: boolean): readonly number[] {
  if (!(max > 0)) return [0, 1]
  const shortest = max / intervalsMax
  const magnitude = 10 ** Math.floor(Math.log10(shortest))
  const factor = [1, 2, 5, 10].find((round) => round * magnitude >= shortest) ?? 10
  const step = isWhole ? Math.max(1, Math.round(factor * magnitude)) : factor * magnitude
  const count = Math.ceil(max / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

export type AxisLabel = {
  readonly index: number
  readonly text: string
  readonly leftPx: number
  readonly widthPx: number
}

/**
 * Returns the labels that fit below an axis, at equal distances: none overlaps another, and none is cut
 * at an end.
 */
export function axisLabels(texts: readonly string[], widthPx: number): readonly AxisLabel[] {
  const labelPx = Math.max(0, ...texts.map(({ length }) => length)) * characterWidthPx
  const columnPx = widthPx / texts.length
  if (widthPx < labelPx) return []
  const step = labelStep((labelPx + labelGapPx) / columnPx)
  const labelAt = (index: number): AxisLabel => {
    const centred = (index + 0.5) * columnPx - labelPx / 2
    const leftPx = Math.min(Math.max(0, centred), widthPx - labelPx)
    return { index, text: texts[index] ?? '', leftPx, widthPx: labelPx }
  }
  // A first label that is moved into the axis can overlap the second one, which is then the first.
  const isFree = labelAt(step).leftPx >= labelAt(0).leftPx + labelPx + labelGapPx / 2
  const first = isFree || step >= texts.length ? 0 : step
  const indexes = Array.from({ length: texts.length }, (_, index) => first + index * step)
  const labels = indexes.filter((index) => index < texts.length).map(labelAt)
  return labels.filter(({ leftPx }, place) => {
    const before = labels[place - 1]
    return before === undefined || leftPx >= before.leftPx + labelPx + labelGapPx / 2
  })
}

/** Returns the number of columns from one label to the next: above 5 a multiple of 5, for round texts. */
function labelStep(columns: number): number {
  const step = Math.max(1, Math.ceil(columns))
  return step <= 5 ? step : Math.ceil(step / 5) * 5
}
