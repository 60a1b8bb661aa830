import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { CreateProjectDialog } from './create-project-dialog.tsx'

/** Each project with its gallery, limits, budget and keys. */
export function ProjectsPage() {
  const asked = useApiQuery('/projects')
  const mayWrite = useHasRole('admin')
  const [isMaking, setIsMaking] = useState(false)
  const make = (
    <Button size="sm" onClick={() => setIsMaking(true)}>
      New project
    </Button>
  )
  return (
    <Page
      title="Projects"
      description="A project has its own keys, budget, rate limit and settings, and a gallery that is isolated or shared with the account’s other projects."
      actions={mayWrite && make}
    >
      <div className="fg-panel">
        <QueryContent query={asked}>
          {({ items }) => (
            <DataTable
              caption="Projects"
              rows={items}
              rowKey={({ projectId }) => projectId}
              columns={columns}
              empty={
                <EmptyState title="No project yet" action={mayWrite && make}>
                  Keys, faces and money live in projects. Make one for each product or environment.
                </EmptyState>
              }
            />
          )}
        </QueryContent>
      </div>
      {isMaking && <CreateProjectDialog onClose={() => setIsMaking(false)} />}
    </Page>
  )
}

const columns: readonly Column<ConsoleProject>[] = [
  {
    name: 'Project',
    renderCell: ({ projectId, name }) => (
      <Anchor
        size="sm"
        renderRoot={(props) => <Link {...props} to="/projects/$id" params={{ id: projectId }} />}
      >
        {name}
      </Anchor>
    ),
  },
  { name: 'Gallery', renderCell: ({ galleryMode }) => galleryMode },
  { name: 'Subjects', align: 'right', renderCell: ({ subjects }) => formatCount(subjects) },
  {
    name: 'Limit',
    align: 'right',
    renderCell: ({ sustainedPerS, burst }) => `${sustainedPerS}/s, burst ${burst}`,
  },
  { name: 'Keys', align: 'right', renderCell: ({ keyCount }) => formatCount(keyCount) },
  {
    name: 'Budget',
    align: 'right',
    renderCell: ({ budgetMicros }) => <MoneyAmount micros={budgetMicros} />,
  },
]
