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
import { MoneyAmount } from '../money/money-amount.tsx'
import { Panel } from '../layout/panel.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

const seriesMax = 8

/** Spend over time, grouped by action, project or key. Only successful calls are charged. */
export function SpendPanel({ groupBy, filters }: Props) {
  const spendBy = groupBy === 'code' ? 'action' : groupBy
  const query = useApiQuery('/analytics/spend', { query: { ...filters, by: spendBy } })
  const openLog = useOpenLog()
  const buckets = query.data?.buckets ?? []
  // Only successful calls are charged.
  const charged = { ...filters, result: 'ok' }
  return (
    <Panel
      title="Spend"
      actions={<LogLink search={searchOfChart(buckets, charged)} of="of the spend chart" />}
    >
      <QueryContent query={query}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <EmptyState title="No spend in this period">
              Only successful calls are charged.
            </EmptyState>
          ) : (
            <>
              <CountChart
                label={`Spend over time by ${spendBy}`}
                buckets={buckets}
                series={series.slice(0, seriesMax).map(({ name, micros }) => ({
                  name,
                  // The precision of a double is sufficient for a chart. The table is exact.
                  values: micros.map((amount) => Number(amount) / 1e6),
                }))}
                onSelect={(bucketIndex, seriesIndex) =>
                  openLog({
                    ...searchOfBucket(buckets, bucketIndex, charged),
                    ...groupFilter(spendBy, series[seriesIndex]?.id ?? ''),
                  })
                }
              />
              <ShownSeries shown={seriesMax} of={series.length} />
              <DataTable
                caption={`Spend by ${spendBy}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  { name: spendBy, renderCell: ({ name }) => name },
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
