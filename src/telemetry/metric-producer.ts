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
 * Creates a producer that exports the Prometheus metrics over OTLP. Both exports share one set of
 * counters, which start with the process.
 */
export function createMetricProducer(
  readFamilies: () => Promise<readonly MetricFamily[]>,
  { scope, resource }: { readonly scope: string; readonly resource: Resource },
): Producer {
  const startTime = toHrTime(performance.timeOrigin)
  return {
    collect: async () => {
      const timeRange = { startTime, endTime: toHrTime(Date.now()) }
      const metrics = (await readFamilies()).flatMap(
        (family) => toMetricData(family, timeRange) ?? [],
      )
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

/** Returns undefined for metric types that the service does not use. */
function toMetricData(family: MetricFamily, timeRange: TimeRange): MetricData | undefined {
  const { name, help, type, values } = family
  const common = {
    descriptor: { name, description: help, unit: metricUnitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = () =>
    values.map(({ value, labels }) => ({ ...timeRange, attributes: labels, value }))
  if (type === 'gauge')
    return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  if (type === 'counter')
    return { ...common, dataPointType: DataPointType.SUM, dataPoints: points(), isMonotonic: true }
  if (type !== 'histogram') return undefined
  return {
    ...common,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: toHistogramPoints(family, timeRange),
  }
}

function metricUnitOf(name: string): string {
  if (/_seconds(?:_total)?$/u.test(name)) return 's'
  return /_bytes(?:_total)?$/u.test(name) ? 'By' : ''
}

/** Creates one point for each set of labels without `le`. */
function toHistogramPoints({ values }: MetricFamily, timeRange: TimeRange): DataPoint<Histogram>[] {
  const keyOf = ({ labels }: MetricValue) => JSON.stringify({ ...labels, le: undefined })
  return [...Map.groupBy(values, keyOf)].map(([labels, group]) => ({
    ...timeRange,
    attributes: JSON.parse(labels) as Record<string, string>,
    value: toHistogram(group),
  }))
}

/** Converts the cumulative buckets of Prometheus to the separate buckets of OTLP. */
function toHistogram(values: readonly MetricValue[]): Histogram {
  const valuesOf = (suffix: string) =>
    values.filter(({ metricName }) => metricName?.endsWith(suffix))
  const cumulative = valuesOf('_bucket')
    .map(({ labels, value }) => ({
      le: Number(String(labels['le']).replace('+Inf', 'Infinity')),
      value,
    }))
    .toSorted((a, b) => a.le - b.le)
  return {
    buckets: {
      boundaries: cumulative.map(({ le }) => le).filter(Number.isFinite),
      counts: cumulative.map(({ value }, index) => value - (cumulative[index - 1]?.value ?? 0)),
    },
    sum: valuesOf('_sum')[0]?.value ?? 0,
    count: valuesOf('_count')[0]?.value ?? 0,
  }
}
