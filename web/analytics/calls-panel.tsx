import type { QueryParams } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CountChart } from '../charts/lazy-charts.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatCount } from '../format/numbers.ts'
import { Panel } from '../layout/panel.tsx'

type Props = { readonly groupBy: string; readonly filters: QueryParams }

const seriesMax = 8

/** Calls over time, by action, project, key or result. */
export function CallsPanel({ groupBy: by, filters }: Props) {
  const asked = useApiQuery('/analytics/calls', { query: { ...filters, by } })
  return (
    <Panel title="Calls">
      <QueryContent query={asked}>
        {({ buckets, series }) =>
          series.length === 0 ? (
            <EmptyState title="No calls in this period">
              Each answered call is counted here.
            </EmptyState>
          ) : (
            <>
              <CountChart
                label={`Calls over time by ${by}`}
                buckets={buckets}
                series={series.slice(0, seriesMax).map(({ name, counts }) => ({
                  name,
                  values: counts,
                }))}
              />
              <DataTable
                caption={`Calls by ${by}`}
                rows={series}
                rowKey={({ id }) => id}
                columns={[
                  { name: by, renderCell: ({ name }) => name },
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
