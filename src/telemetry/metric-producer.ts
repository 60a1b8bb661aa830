import { ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type Histogram,
  type MetricData,
  type PeriodicExportingMetricReaderOptions,
} from '@opentelemetry/sdk-metrics'
import type { MetricFamily, MetricValue } from '../lib/observability/metric-family.ts'

type Producer = NonNullable<PeriodicExportingMetricReaderOptions['metricProducers']>[number]
type TimeRange = { readonly startTime: [number, number]; readonly endTime: [number, number] }

/**
 * The metrics that Prometheus is shown, for OTLP: there is one set of counters, whoever asks. All
 * are counted from the start of the process on.
 */
export function createMetricProducer(
  families: () => Promise<readonly MetricFamily[]>,
  { scope, resource }: { readonly scope: string; readonly resource: Resource },
): Producer {
  const startTime = toHrTime(performance.timeOrigin)
  return {
    collect: async () => {
      const moments = { startTime, endTime: toHrTime(Date.now()) }
      const metrics = (await families()).flatMap((family) => toMetricData(family, moments) ?? [])
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: scope }, metrics }] },
        errors: [],
      }
    },
  }
}

function toHrTime(ms: number): [seconds: number, nanos: number] {
  return [Math.trunc(ms / 1000), Math.round((ms % 1000) * 1e6)]
}

/** Undefined for kinds of metrics that nothing here makes. */
function toMetricData(family: MetricFamily, moments: TimeRange): MetricData | undefined {
  const { name, help, type, values } = family
  const common = {
    descriptor: { name, description: help, unit: metricUnitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () =>
    values.map(({ value, labels }) => ({ ...moments, attributes: labels, value }))
  if (type === 'gauge')
    return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  if (type === 'counter')
    return { ...common, dataPointType: DataPointType.SUM, dataPoints: points(), isMonotonic: true }
  if (type !== 'histogram') return undefined
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: toHistogramPoints(family, moments),
  }
}

function metricUnitOf(name: string): string {
  if (/_seconds(?:_total)?$/u.test(name)) return 's'
  return /_bytes(?:_total)?$/u.test(name) ? 'By' : ''
}

/** One point for each set of labels beside `le`. */
function toHistogramPoints({ values }: MetricFamily, moments: TimeRange): DataPoint<Histogram>[] {
  const keyOf = ({ labels }: MetricValue) => JSON.stringify({ ...labels, le: undefined })
  return [...Map.groupBy(values, keyOf)].map(([labels, own]) => ({
    ...moments,
    attributes: JSON.parse(labels) as Record<string, string>,
    value: toHistogram(own),
  }))
}

/** Prometheus counts all up to a boundary, OTLP what lies between two. */
function toHistogram(values: readonly MetricValue[]): Histogram {
  const of = (suffix: string) => values.filter(({ metricName }) => metricName?.endsWith(suffix))
  const upTo = of('_bucket')
    .map(({ labels, value }) => ({
      le: Number(String(labels['le']).replace('+Inf', 'Infinity')),
      value,
    }))
    .toSorted((a, b) => a.le - b.le)
  return {
    buckets: {
      boundaries: upTo.map(({ le }) => le).filter(Number.isFinite),
      counts: upTo.map(({ value }, at) => value - (upTo[at - 1]?.value ?? 0)),
    },
    sum: of('_sum')[0]?.value ?? 0,
    count: of('_count')[0]?.value ?? 0,
  }
}
