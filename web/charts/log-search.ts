/** The search parameters of the request log that a part of a chart stands for. */
export type LogSearch = {
  readonly fromUtc?: string
  readonly toUtc?: string
  readonly [filter: string]: string | undefined
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Returns the start of each bucket and the end of the last one. Buckets are whole hours or days. */
export function bucketEdges(buckets: readonly string[]): readonly string[] {
  const starts = buckets.map((bucket) => Date.parse(bucket))
  const areDays = starts.every((ms) => ms % dayMs === 0)
  const last = starts.at(-1)
  if (last === undefined) return []
  const [first, second] = starts
  const stepMs =
    first !== undefined && second !== undefined ? second - first : areDays ? dayMs : hourMs
  return [...starts, last + stepMs].map(utcOf)
}

/** Returns the filters of the calls in one bucket of a chart. */
export function searchOfBucket(
  buckets: readonly string[],
  index: number,
  filters: Readonly<Record<string, unknown>> = {},
): LogSearch {
  const edges = bucketEdges(buckets)
  return withPeriod(filters, edges[index], edges[index + 1])
}

/** Returns the filters of all calls of a chart. */
export function searchOfChart(
  buckets: readonly string[],
  filters: Readonly<Record<string, unknown>> = {},
): LogSearch {
  const edges = bucketEdges(buckets)
  return withPeriod(filters, edges[0], edges.at(-1))
}

type CountedHours = { readonly fromUtc: string; readonly toUtc: string }

/** Returns filters with the hours that a chart counts, so that the log shows the same calls. */
export function countedFilters<Filters extends object>(
  filters: Filters,
  { fromUtc, toUtc }: Partial<CountedHours> = {},
): Filters & Partial<CountedHours> {
  return fromUtc === undefined || toUtc === undefined ? filters : { ...filters, fromUtc, toUtc }
}

/** Returns the start of the period that charts show by default: the current hour and the 23 before. */
export function defaultStartUtc(nowMs: number): string {
  return utcOf(Math.floor(nowMs / hourMs) * hourMs - 23 * hourMs)
}

/** The filter of the log for a group of a chart. There is none for `others`, the sum of many keys. */
export function groupFilter(groupBy: string, id: string): LogSearch {
  const name = {
    project: 'projectId',
    key: 'keyId',
    code: 'code',
    action: 'action',
    outcome: 'outcome',
  }[groupBy]
  return name === undefined || id === 'others' ? {} : { [name]: id }
}

const logFilters = ['projectId', 'keyId', 'action', 'code', 'result', 'outcome'] as const

/** The period is limited to that of the chart, whose first and last bucket can be incomplete. */
function withPeriod(
  filters: Readonly<Record<string, unknown>>,
  startUtc: string | undefined,
  endUtc: string | undefined,
): LogSearch {
  const kept = logFilters.flatMap((name) => {
    const value = filters[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const { fromUtc, toUtc } = filters as { readonly fromUtc?: string; readonly toUtc?: string }
  return {
    ...Object.fromEntries(kept),
    ...limit('fromUtc', [fromUtc, startUtc].filter(isPresent).toSorted().at(-1)),
    ...limit('toUtc', [toUtc, endUtc].filter(isPresent).toSorted()[0]),
  }
}

function isPresent(utc: string | undefined): utc is string {
  return utc !== undefined && utc !== ''
}

function limit(name: 'fromUtc' | 'toUtc', utc: string | undefined): LogSearch {
  return utc === undefined ? {} : { [name]: utc }
}

function utcOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
