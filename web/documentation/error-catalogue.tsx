import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { Panel } from '../layout/panel.tsx'

/** Every error code with its HTTP status, meaning and remedy. */
export function ErrorCatalogue() {
  const query = useApiQuery('/errors')
  return (
    <Panel title="Error codes">
      <QueryContent query={query}>
        {(errors) => (
          <DataTable
            caption="Error codes"
            rows={errors}
            rowKey={({ code }) => code}
            columns={[
              { name: 'Code', isMonospace: true, renderCell: ({ code }) => code },
              { name: 'HTTP status', align: 'right', renderCell: ({ http }) => http },
              { name: 'Description', renderCell: ({ message }) => message },
              { name: 'Remedy', renderCell: ({ remedy }) => remedy },
            ]}
            empty={null}
          />
        )}
      </QueryContent>
    </Panel>
  )
}
