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

/** Returns the labels that fit below an axis: none overlaps another, and none is cut at an end. */
export function axisLabels(texts: readonly string[], widthPx: number): readonly AxisLabel[] {
  const labelPx = Math.max(0, ...texts.map(({ length }) => length)) * characterWidthPx
  const columnPx = widthPx / texts.length
  const step = Math.max(1, Math.ceil((labelPx + labelGapPx) / columnPx))
  if (widthPx < labelPx) return []
  const labels: AxisLabel[] = []
  let freePx = 0
  for (let index = 0; index < texts.length; index += step) {
    const centred = (index + 0.5) * columnPx - labelPx / 2
    const leftPx = Math.min(Math.max(0, centred), widthPx - labelPx)
    if (leftPx < freePx) continue
    labels.push({ index, text: texts[index] ?? '', leftPx, widthPx: labelPx })
    freePx = leftPx + labelPx + labelGapPx / 2
  }
  return labels
}
