/** One line, or one colour of stacked bars: one value per bucket. */
export type ChartSeries = {
  readonly name: string
  readonly values: readonly (number | null)[]
}

/** Distinct in the light and the dark scheme, also with red-green colour blindness. */
const colors = [
  'petrol.5',
  'signal.5',
  'indigo.5',
  'gray.6',
  'grape.5',
  'lime.7',
  'orange.7',
  'cyan.5',
  'pink.6',
  'teal.7',
]

function colorOf(index: number): string {
  return colors[index % colors.length] ?? 'gray.6'
}

/** Returns the colour of a series as CSS. */
export function seriesColor(index: number): string {
  return `var(--mantine-color-${colorOf(index).replace('.', '-')})`
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
