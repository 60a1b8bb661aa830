import { Text } from '@mantine/core'
import type { Query } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { LineChart } from '../charts/lazy-chart.tsx'
import { Answered } from '../parts/answered.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { durationOf } from '../parts/numbers.ts'
import { Panel } from '../parts/panel.tsx'

/** How long calls take: half, 19 of 20 and 99 of 100 are faster than the lines. */
export function LatencyPanel({ filters }: { readonly filters: Query }) {
  const asked = useAnswer('/analytics/latency', { query: filters })
  return (
    <Panel title="Latency">
      <Answered asked={asked}>
        {({ buckets, p50, p95, p99, overall, relativeErrorMax }) =>
          overall.p50 === null ? (
            <Empty title="No calls in this period">Each answered call is timed here.</Empty>
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
                format={durationOf}
              />
              <Facts
                facts={{
                  p50: durationOf(overall.p50),
                  p95: durationOf(overall.p95),
                  p99: durationOf(overall.p99),
                }}
              />
              <Text size="xs" c="dimmed" mt="xs">
                Read from a histogram: each figure is within {(relativeErrorMax * 100).toFixed(0)}{' '}
                %.
              </Text>
            </>
          )
        }
      </Answered>
    </Panel>
  )
}
