/** One line or one colour of a stack: a value for each bucket. */
export type ChartSeries = {
  readonly name: string
  readonly values: readonly (number | null)[]
}

/** Told apart in both schemes, also by those who confuse red and green. */
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

/** Recharts wants a record per bucket. Names are the users' own, so each series has a key. */
export function toChartData(
  buckets: readonly string[],
  series: readonly ChartSeries[],
): Record<string, string | number | null>[] {
  return buckets.map((bucket, i) => ({
    bucket,
    ...Object.fromEntries(series.map(({ values }, n) => [`s${n}`, values[i] ?? null])),
  }))
}

export function toChartLegend(series: readonly ChartSeries[]) {
  return series.map(({ name: label }, n) => ({ name: `s${n}`, label, color: colorOf(n) }))
}

/** `2026-11-21T14:00:00Z` → `11-21 14:00`, or the day alone where every bucket is one. */
export function formatBucketLabels(buckets: readonly string[]): string[] {
  const areDays = buckets.every((bucket) => bucket.slice(11, 19) === '00:00:00')
  return buckets.map((bucket) =>
    areDays ? bucket.slice(5, 10) : bucket.slice(5, 16).replace('T', ' '),
  )
}
