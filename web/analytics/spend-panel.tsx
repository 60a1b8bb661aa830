import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { Panel } from '../layout/panel.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

const seriesMax = 8

/** Spend over time, by action, project or key. A failure costs nothing: there is none by result. */
export function SpendPanel({ groupBy: by, filters }: Props) {
  const spendBy = by === 'code' ? 'action' : by
  const asked = useApiQuery('/analytics/spend', { query: { ...filters, by: spendBy } })
  return (
    <Panel title="Spend">
      <QueryContent query={asked}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <EmptyState title="Nothing was spent in this period">
              Only ok calls are charged.
            </EmptyState>
          ) : (
            <>
              <CountChart
                label={`Spend over time by ${spendBy}`}
                buckets={buckets}
                series={series.slice(0, seriesMax).map(({ name, micros }) => ({
                  name,
                  // A chart needs no more digits than a double has; the table is exact.
                  values: micros.map((amount) => Number(amount) / 1e6),
                }))}
              />
              <DataTable
                caption={`Spend by ${spendBy}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  { name: spendBy, renderCell: ({ name }) => name },
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
