import { Text } from '@mantine/core'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { LineChart } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { countedFilters, searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { formatDuration } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'

/** The p50, p95 and p99 latency over time. */
export function LatencyPanel({ filters }: { readonly filters: QueryParams }) {
  const query = useApiQuery('/analytics/latency', { query: filters })
  const shown = query.data?.buckets ?? []
  const counted = countedFilters(filters, query.data)
  return (
    <Panel
      title="Latency"
      actions={<LogLink search={searchOfChart(shown, counted)} of="of the latency chart" />}
    >
      <QueryContent query={query}>
        {({ buckets, p50, p95, p99, overall, relativeErrorMax }) =>
          overall.p50 === null ? (
            <NoData title="No calls in this period">
              The latency of completed calls appears here.
            </NoData>
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
                searchOf={(bucketIndex) => searchOfBucket(buckets, bucketIndex, counted)}
              />
              <DefinitionList
                items={{
                  p50: formatDuration(overall.p50),
                  p95: formatDuration(overall.p95),
                  p99: formatDuration(overall.p99),
                }}
              />
              <Text size="xs" c="dimmed" mt="xs">
                Calculated from a histogram. Maximum error: {(relativeErrorMax * 100).toFixed(0)} %
              </Text>
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}
