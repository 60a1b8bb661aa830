/** One line, or one colour of stacked bars: one value per bucket. */
export type ChartSeries = {
  readonly name: string
  /** The position among all series of its kind, which chooses the colour; null: the sum of others. */
  readonly order?: number | null
  readonly values: readonly (number | null)[]
}

/** Distinct in the light and the dark scheme, also with red-green colour blindness. */
const colors = [
  'petrol.5',
  'signal.5',
  'indigo.5',
  'grape.5',
  'lime.7',
  'orange.7',
  'cyan.5',
  'pink.6',
  'teal.7',
]

const othersColor = 'gray.6'

function colorOf(index: number): string {
  return colors[index % colors.length] ?? 'gray.6'
}

/** Returns the colour of a series as CSS. */
export function seriesColor(index: number): string {
  return cssColor(colorOf(index))
}

/**
 * Returns the colour of each series as CSS. A series has the same colour in every chart, unless an
 * earlier series of the chart has it.
 */
export function seriesColors(series: readonly ChartSeries[]): readonly string[] {
  const taken = new Map<number, number>()
  const positions = series.map(({ order = null }, index) => ({ order, index }))
  for (const { order, index } of positions.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0))) {
    if (order === null) continue
    let color = order % colors.length
    while (taken.size < colors.length && taken.has(color)) color = (color + 1) % colors.length
    taken.set(color, index)
  }
  const byIndex = new Map([...taken].map(([color, index]) => [index, color]))
  return series.map(({ order }, index) =>
    order === null ? cssColor(othersColor) : seriesColor(byIndex.get(index) ?? order ?? index),
  )
}

function cssColor(name: string): string {
  return `var(--mantine-color-${name.replace('.', '-')})`
}

export function toChartLegend(series: readonly ChartSeries[]) {
  return series.map(({ name: label }, index) => ({
    name: `s${index}`,
    label,
    color: colorOf(index),
  }))
}

/** Formats `2026-11-21T14:00:00Z` as `11-21 14:00`, or as `11-21` if every bucket is one day. */
export function formatBucketLabels(buckets: readonly string[]): string[] {
  const areDays = buckets.every((bucket) => bucket.slice(11, 19) === '00:00:00')
  return buckets.map((bucket) =>
    areDays ? bucket.slice(5, 10) : bucket.slice(5, 16).replace('T', ' '),
  )
}

/** Formats an exponent: `-4` → `10⁻⁴`. */
export function formatPowerOfTen(power: number): string {
  const digits = String(Math.abs(Math.round(power))).replaceAll(/\d/gu, (digit) =>
    '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(Number(digit)),
  )
  return `10${power < 0 ? '⁻' : ''}${digits}`
}
