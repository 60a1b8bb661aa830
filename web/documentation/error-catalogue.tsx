import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable } from '../lists/data-table.tsx'
import { Panel } from '../layout/panel.tsx'

/** Every error code, when it comes, and what to do. */
export function ErrorCatalogue() {
  const asked = useApiQuery('/errors')
  return (
    <Panel title="Error codes">
      <QueryContent query={asked}>
        {(errors) => (
          <DataTable
            caption="Error codes"
            rows={errors}
            rowKey={({ code }) => code}
            columns={[
              { name: 'Code', isMonospace: true, renderCell: ({ code }) => code },
              { name: 'HTTP', align: 'right', renderCell: ({ http }) => http },
              { name: 'When', renderCell: ({ message }) => message },
              { name: 'What to do', renderCell: ({ remedy }) => remedy },
            ]}
            empty={null}
          />
        )}
      </QueryContent>
    </Panel>
  )
}
