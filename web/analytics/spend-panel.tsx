import type { QueryParams } from '../api/api.ts'
import { useSignedInSession } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { LogLink } from '../charts/log-link.tsx'
import { countedFilters, searchOfBucket, searchOfChart } from '../charts/log-search.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { formatAmount } from '../format/amount.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import { NoData } from '../layout/card-row.tsx'
import { Panel } from '../layout/panel.tsx'
import { groupColumn } from './group-column.tsx'
import { groupOf, LargestSeriesNote, largestSeries } from './largest-series.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

/** Spend over time, grouped by action, project or key. Only successful calls are charged. */
export function SpendPanel({ groupBy, filters }: Props) {
  const { currency } = useSignedInSession()
  const spendBy = groupBy === 'code' || groupBy === 'outcome' ? 'action' : groupBy
  const query = useApiQuery('/analytics/spend', { query: { ...filters, by: spendBy } })
  const buckets = query.data?.buckets ?? []
  // Only successful calls are charged.
  const charged = { ...countedFilters(filters, query.data), result: 'ok' }
  return (
    <Panel
      title="Spend"
      actions={<LogLink search={searchOfChart(buckets, charged)} of="of the spend chart" />}
    >
      <QueryContent query={query}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <NoData title="No spend in this period">Only successful calls are charged.</NoData>
          ) : (
            <>
              <CountChart
                label={`Spend over time by ${spendBy}`}
                buckets={buckets}
                // The precision of a double is sufficient for a chart. The table is exact.
                series={largestSeries(
                  series.map(({ name, order, micros }) => ({
                    name,
                    order,
                    values: micros.map(Number),
                  })),
                )}
                format={(micros) => `${formatAmount(BigInt(Math.round(micros)))} ${currency}`}
                searchOf={(bucketIndex, seriesIndex) => ({
                  ...searchOfBucket(buckets, bucketIndex, charged),
                  ...groupOf(series, seriesIndex, spendBy),
                })}
              />
              <LargestSeriesNote count={series.length} of={`${spendBy}s`} />
              <DataTable
                caption={`Spend by ${spendBy}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  groupColumn(spendBy, searchOfChart(buckets, charged)),
                  {
                    name: 'Not charged',
                    align: 'right',
                    renderCell: ({ meteredMicros }) => <MoneyAmount micros={meteredMicros} />,
                  },
                  {
                    name: 'Spent',
                    align: 'right',
                    renderCell: ({ totalMicros }) => <MoneyAmount micros={totalMicros} />,
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
