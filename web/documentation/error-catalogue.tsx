import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Panel } from '../parts/panel.tsx'

/** Every error code, when it comes, and what to do. */
export function ErrorCatalogue() {
  const asked = useAnswer('/errors')
  return (
    <Panel title="Error codes">
      <Answered asked={asked}>
        {(errors) => (
          <DataTable
            caption="Error codes"
            rows={errors}
            keyOf={({ code }) => code}
            columns={[
              { name: 'Code', mono: true, cell: ({ code }) => code },
              { name: 'HTTP', align: 'right', cell: ({ http }) => http },
              { name: 'When', cell: ({ message }) => message },
              { name: 'What to do', cell: ({ remedy }) => remedy },
            ]}
            empty={null}
          />
        )}
      </Answered>
    </Panel>
  )
}
