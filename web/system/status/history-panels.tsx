import { SimpleGrid, Text } from '@mantine/core'
import type { SystemHistory } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { LineChart } from '../../charts/lazy-charts.tsx'
import type { ChartSeries } from '../../charts/series.ts'
import { QueryContent } from '../../components/query-content.tsx'
import { formatCount } from '../../format/numbers.ts'
import { Panel } from '../../layout/panel.tsx'

/** Memory, queue and latency of every server in the last 24 hours. */
export function HistoryPanels() {
  const query = useApiQuery('/system/history')
  return (
    <QueryContent query={query}>
      {(history) =>
        history.servers.length === 0 ? (
          <Panel title="Last 24 hours">
            <Text size="sm">Each server adds its first values one minute after its start.</Text>
          </Panel>
        ) : (
          <Charts history={history} />
        )
      }
    </QueryContent>
  )
}

function Charts({ history }: { readonly history: SystemHistory }) {
  const { buckets } = history
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }}>
      {charts.map(({ title, values, unit = 1, format }) => (
        <Panel key={title} title={title}>
          <LineChart
            label={`${title} of the last 24 hours, by five minutes`}
            buckets={buckets}
            series={seriesOf(history, values, unit)}
            format={format}
          />
        </Panel>
      ))}
    </SimpleGrid>
  )
}

type ValueName = 'memoryBytes' | 'workerBytes' | 'queued' | 'p50Ms' | 'p95Ms'

type HistoryChart = {
  readonly title: string
  /** The values of each server, and their names. */
  readonly values: Partial<Record<ValueName, string>>
  /** The size of the unit in which the values are shown; 1 by default. */
  readonly unit?: number
  readonly format: (value: number) => string
}

const mebibyte = 1024 ** 2

const charts: readonly HistoryChart[] = [
  {
    title: 'Memory',
    values: { memoryBytes: 'server process', workerBytes: 'vision workers' },
    unit: mebibyte,
    format: (value) => `${formatCount(Math.round(value))} MiB`,
  },
  { title: 'Longest queue', values: { queued: 'waiting images' }, format: String },
  {
    title: 'Latency',
    values: { p50Ms: 'p50', p95Ms: 'p95' },
    format: (value) => `${Math.round(value)} ms`,
  },
]

/** One line per server and value. A single server needs no name. */
function seriesOf(
  { servers }: SystemHistory,
  values: HistoryChart['values'],
  unit: number,
): ChartSeries[] {
  return servers.flatMap((server) =>
    Object.entries(values).map(([value, label]) => ({
      name: servers.length === 1 ? label : `${server.server} ${label}`,
      // The keys are those of the record.
      values: server[value as ValueName].map((one) => (one === null ? null : one / unit)),
    })),
  )
}
