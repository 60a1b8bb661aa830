import { Anchor, Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { MoneyAmount } from '../money/money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { CreateProjectDialog } from './create-project-dialog.tsx'

const route = getRouteApi('/projects')

/** The projects with gallery mode, limits, budget and API keys. */
export function ProjectsPage() {
  const query = useApiQuery('/projects')
  const mayWrite = useHasRole('admin')
  const [isCreating, setIsCreating] = useState(false)
  const { sort } = route.useSearch()
  const navigate = route.useNavigate()
  const createButton = (
    <Button size="sm" onClick={() => setIsCreating(true)}>
      Create project
    </Button>
  )
  return (
    <Page
      title="Projects"
      description="Each project has separate API keys, budget, rate limit and settings. Its gallery is isolated or shared with other projects."
      actions={mayWrite && createButton}
    >
      <div className="fg-panel">
        <QueryContent query={query}>
          {({ items }) => (
            <DataTable
              caption="Projects"
              rows={items}
              rowKey={({ projectId }) => projectId}
              columns={columns}
              sort={sort}
              onSortChange={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
              empty={
                <EmptyState title="No projects" action={mayWrite && createButton}>
                  Create one project for each product or environment.
                </EmptyState>
              }
            />
          )}
        </QueryContent>
      </div>
      {isCreating && <CreateProjectDialog onClose={() => setIsCreating(false)} />}
    </Page>
  )
}

const columns: readonly Column<ConsoleProject>[] = [
  {
    name: 'Project',
    sort: 'name',
    sortValue: ({ name }) => name,
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
  {
    name: 'Subjects',
    align: 'right',
    sort: '-subjects',
    sortValue: ({ subjects }) => subjects,
    renderCell: ({ subjects }) => formatCount(subjects),
  },
  {
    name: 'Rate limit',
    align: 'right',
    renderCell: ({ sustainedPerS, burst }) => `${sustainedPerS}/s, burst ${burst}`,
  },
  {
    name: 'API keys',
    align: 'right',
    sort: '-keys',
    sortValue: ({ keyCount }) => keyCount,
    renderCell: ({ keyCount }) => formatCount(keyCount),
  },
  {
    name: 'Budget',
    align: 'right',
    sort: '-budget',
    sortValue: ({ budgetMicros }) => BigInt(budgetMicros),
    renderCell: ({ budgetMicros }) => <MoneyAmount micros={budgetMicros} />,
  },
]
