import type { SystemServer } from '../../api/responses.ts'
import { UtcTime } from '../../components/utc-time.tsx'
import { Panel } from '../../layout/panel.tsx'
import { DataTable, type Column } from '../../lists/data-table.tsx'

type ServerProblem = NonNullable<SystemServer['report']>['problems'][number]
type Row = ServerProblem & { readonly server: string; readonly key: string }

/** The latest rows of the table. */
const rowsMax = 20

/** The latest warnings and errors of the logs of all servers. */
export function ProblemTable({ servers }: { readonly servers: readonly SystemServer[] }) {
  const rows = servers
    .flatMap(({ server, report }) =>
      (report?.problems ?? []).map((problem, index) => ({
        ...problem,
        server,
        key: `${server} ${index}`,
      })),
    )
    .toSorted((a, b) => b.time.localeCompare(a.time))
    .slice(0, rowsMax)
  return (
    <Panel title="Recent warnings and errors">
      <DataTable
        caption={`Warnings and errors of the logs, the latest ${rowsMax}`}
        rows={rows}
        rowKey={({ key }) => key}
        columns={columns}
        empty="No server has logged a warning or an error since its start."
      />
    </Panel>
  )
}

const columns: readonly Column<Row>[] = [
  { name: 'Time (UTC)', renderCell: ({ time }) => <UtcTime timestampUtc={time} /> },
  { name: 'Server', isMonospace: true, renderCell: ({ server }) => server },
  { name: 'Level', renderCell: ({ level }) => level },
  { name: 'Message', renderCell: ({ message }) => message },
  {
    name: 'Error',
    isMonospace: true,
    renderCell: ({ error }) => (error ? [error.type, error.code].filter(Boolean).join(' ') : ''),
  },
]
