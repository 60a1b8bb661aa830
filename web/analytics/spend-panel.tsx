import type { Query } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-chart.tsx'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Money } from '../parts/money.tsx'
import { Panel } from '../parts/panel.tsx'

type Parts = { readonly by: string; readonly filters: Query }

const shownMax = 8

/** Spend over time, by action, project or key. A failure costs nothing: there is none by result. */
export function SpendPanel({ by, filters }: Parts) {
  const spendBy = by === 'code' ? 'action' : by
  const asked = useAnswer('/analytics/spend', { query: { ...filters, by: spendBy } })
  return (
    <Panel title="Spend">
      <Answered asked={asked}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <Empty title="Nothing was spent in this period">Only ok calls are charged.</Empty>
          ) : (
            <>
              <CountChart
                label={`Spend over time by ${spendBy}`}
                buckets={buckets}
                series={series.slice(0, shownMax).map(({ name, micros }) => ({
                  name,
                  // A chart needs no more digits than a double has; the table is exact.
                  values: micros.map((amount) => Number(amount) / 1e6),
                }))}
              />
              <DataTable
                caption={`Spend by ${spendBy}`}
                rows={series}
                keyOf={({ id }) => id}
                columns={[
                  { name: spendBy, cell: ({ name }) => name },
                  {
                    name: 'Spent',
                    align: 'right',
                    cell: ({ totalMicros }) => <Money micros={totalMicros} />,
                  },
                ]}
                empty={null}
              />
            </>
          )
        }
      </Answered>
    </Panel>
  )
}
