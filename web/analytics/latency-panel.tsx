import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { LineChart } from '../charts/lazy-charts.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'

/** How long calls take: half, 19 of 20 and 99 of 100 are faster than the lines. */
export function LatencyPanel({ filters }: { readonly filters: QueryParams }) {
  const asked = useApiQuery('/analytics/latency', { query: filters })
  return (
    <Panel title="Latency">
      <QueryContent query={asked}>
        {({ buckets, p50, p95, p99, overall, relativeErrorMax }) =>
          overall.p50 === null ? (
            <EmptyState title="No calls in this period">
              Each answered call is timed here.
            </EmptyState>
          ) : (
            <>
              <LineChart
                label="Latency percentiles over time"
                buckets={buckets}
                series={[
                  { name: 'p50', values: p50 },
                  { name: 'p95', values: p95 },
                  { name: 'p99', values: p99 },
                ]}
                format={formatDuration}
              />
              <DefinitionList
                facts={{
                  p50: formatDuration(overall.p50),
                  p95: formatDuration(overall.p95),
                  p99: formatDuration(overall.p99),
                }}
              />
              <Text size="xs" c="dimmed" mt="xs">
                Read from a histogram: each figure is within {(relativeErrorMax * 100).toFixed(0)}{' '}
                %.
              </Text>
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}
