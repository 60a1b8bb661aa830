import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { groupFilter, searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { useOpenLog } from '../charts/use-open-log.ts'
import { ShownSeries } from './shown-series.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatCount } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

const seriesMax = 8

/** Calls over time, grouped by action, project, key or result. */
export function CallsPanel({ groupBy, filters }: Props) {
  const query = useApiQuery('/analytics/calls', { query: { ...filters, by: groupBy } })
  const openLog = useOpenLog()
  const buckets = query.data?.buckets ?? []
  return (
    <Panel
      title="Calls"
      actions={<LogLink search={searchOfChart(buckets, filters)} of="of the call chart" />}
    >
      <QueryContent query={query}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <EmptyState title="No calls in this period">Completed calls appear here.</EmptyState>
          ) : (
            <>
              <CountChart
                label={`Calls over time by ${groupBy}`}
                buckets={buckets}
                series={series.slice(0, seriesMax).map(({ name, counts }) => ({
                  name,
                  values: counts,
                }))}
                onSelect={(bucketIndex, seriesIndex) =>
                  openLog({
                    ...searchOfBucket(buckets, bucketIndex, filters),
                    ...groupFilter(groupBy, series[seriesIndex]?.id ?? ''),
                  })
                }
              />
              <ShownSeries shown={seriesMax} of={series.length} />
              <DataTable
                caption={`Calls by ${groupBy}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  {
                    name: groupBy,
                    renderCell: ({ name, id }) => (
                      <Anchor
                        size="sm"
                        renderRoot={(props) => (
                          <Link
                            {...props}
                            to="/log"
                            search={{
                              ...searchOfChart(buckets, filters),
                              ...groupFilter(groupBy, id),
                            }}
                          />
                        )}
                      >
                        {name}
                      </Anchor>
                    ),
                  },
                  { name: 'Calls', align: 'right', renderCell: ({ total }) => formatCount(total) },
                ]}
                empty={null}
              />
            </>
          )
        }
      </QueryContent>
    </Panel>
  )
}
