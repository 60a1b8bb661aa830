import type { Query } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-chart.tsx'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { countOf } from '../parts/numbers.ts'
import { Panel } from '../parts/panel.tsx'

type Parts = { readonly by: string; readonly filters: Query }

const shownMax = 8

/** Calls over time, by action, project, key or result. */
export function CallsPanel({ by, filters }: Parts) {
  const asked = useAnswer('/analytics/calls', { query: { ...filters, by } })
  return (
    <Panel title="Calls">
      <Answered asked={asked}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <Empty title="No calls in this period">Each answered call is counted here.</Empty>
          ) : (
            <>
              <CountChart
                label={`Calls over time by ${by}`}
                buckets={buckets}
                series={series.slice(0, shownMax).map(({ name, counts }) => ({
                  name,
                  values: counts,
                }))}
              />
              <DataTable
                caption={`Calls by ${by}`}
                rows={series}
                keyOf={({ id }) => id}
                columns={[
                  { name: by, cell: ({ name }) => name },
                  { name: 'Calls', align: 'right', cell: ({ total }) => countOf(total) },
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
