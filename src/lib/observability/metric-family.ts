/** A metric with its values of one moment, in the shape that Prometheus knows. */
export type MetricFamily = {
  readonly name: string
  readonly help: string
  /** At run time `counter`, `gauge` or `histogram`. */
  readonly type: unknown
  readonly values: readonly MetricValue[]
}

export type MetricValue = {
  readonly value: number
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  /** Of histograms: the name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string
}
