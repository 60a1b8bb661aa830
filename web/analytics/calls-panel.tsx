import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { countedFilters, searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { formatCount, formatPercentage } from '../format/numbers.ts'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'
import { groupColumn } from './group-column.tsx'
import { groupOf, LargestSeriesNote, largestSeries } from './largest-series.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

/** Calls over time, grouped by action, project, key or result. */
export function CallsPanel({ groupBy, filters }: Props) {
  const query = useApiQuery('/analytics/calls', { query: { ...filters, by: groupBy } })
  const buckets = query.data?.buckets ?? []
  const counted = countedFilters(filters, query.data)
  return (
    <Panel
      title="Calls"
      actions={<LogLink search={searchOfChart(buckets, counted)} of="of the call chart" />}
    >
      <QueryContent query={query}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <NoData title="No calls in this period">Completed calls appear here.</NoData>
          ) : (
            <>
              <CountChart
                label={`Calls over time by ${groupBy}`}
                buckets={buckets}
                series={largestSeries(
                  series.map(({ name, order, counts }) => ({ name, order, values: counts })),
                )}
                searchOf={(bucketIndex, seriesIndex) => ({
                  ...searchOfBucket(buckets, bucketIndex, counted),
                  ...groupOf(series, seriesIndex, groupBy),
                })}
              />
              <LargestSeriesNote count={series.length} of={`${groupBy}s`} />
              <DataTable
                caption={`Calls by ${groupBy}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  groupColumn(groupBy, searchOfChart(buckets, counted)),
                  { name: 'Calls', align: 'right', renderCell: ({ total }) => formatCount(total) },
                  {
                    name: 'Share',
                    align: 'right',
                    renderCell: ({ total }) => formatPercentage(total / allCalls(series)),
                  },
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

function allCalls(series: readonly { readonly total: number }[]): number {
  return series.reduce((sum, { total }) => sum + total, 0)
}
