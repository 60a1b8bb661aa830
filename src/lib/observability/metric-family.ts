/** A metric with its current values, in the data model of Prometheus. */
export type MetricFamily = {
  readonly name: string
  readonly help: string
  /** At run time: `counter`, `gauge` or `histogram`. */
  readonly type: unknown
  readonly values: readonly MetricValue[]
}

export type MetricValue = {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  /** For histograms: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string
}
