import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleGroup } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../components/project-scope.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { DeleteGroupDialog } from './delete-group-dialog.tsx'

const route = getRouteApi('/groups')

/** The groups of a gallery and how many belong to each. */
export function GroupsPage() {
  return (
    <Page
      title="Groups"
      description="A group is a name that subjects bear, such as a site or a team; svc.identify can search in some groups alone. It is there from its first subject to its last."
    >
      <ProjectScope>{(projectId) => <GroupList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function GroupList({ projectId }: { readonly projectId: string }) {
  const { q, cursor } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [chosen, setChosen] = useState<string>()
  const asked = useApiQuery('/projects/:projectId/groups', {
    pathParams: { projectId },
    query: { q, cursor },
  })
  const search = (text: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, q: text, cursor: undefined }) })
  return (
    <>
      <FilterBar onClear={() => search(undefined)}>
        <TextFilter label="Name contains" value={q} onChange={search} />
      </FilterBar>
      <ListPanel
        caption="Groups"
        query={asked}
        rowKey={({ name }) => name}
        columns={columnsOf(projectId, mayWrite ? setChosen : undefined)}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="No groups here">
            Name groups when you enroll (parameter groups), or edit a subject.
          </EmptyState>
        }
      />
      {chosen && (
        <DeleteGroupDialog
          projectId={projectId}
          name={chosen}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  )
}

function columnsOf(
  projectId: string,
  onDelete: ((name: string) => void) | undefined,
): readonly Column<ConsoleGroup>[] {
  const columns: readonly Column<ConsoleGroup>[] = [
    {
      name: 'Group',
      renderCell: ({ name }) => (
        <Link to="/subjects" search={{ group: name, projectId }}>
          {name}
        </Link>
      ),
    },
    {
      name: 'Subjects',
      align: 'right',
      renderCell: ({ subjectCount }) => formatCount(subjectCount),
    },
  ]
  if (!onDelete) return columns
  const actions: Column<ConsoleGroup> = {
    name: 'Actions',
    renderCell: ({ name }) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Delete its subjects: ${name}`}
        onClick={() => onDelete(name)}
      >
        Delete its subjects
      </Button>
    ),
  }
  return [...columns, actions]
}
