import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Group } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useAnswer } from '../api/use-api.ts'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar, TextFilter } from '../parts/filters.tsx'
import { InProject } from '../parts/in-project.tsx'
import { ListPanel } from '../parts/list-panel.tsx'
import { countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { DeleteGroup } from '../subjects/delete-group.tsx'

const route = getRouteApi('/groups')

/** The groups of a gallery and how many belong to each. */
export function GroupsPage() {
  return (
    <Page
      title="Groups"
      lead="A group is a name that subjects bear, such as a site or a team; svc.identify can search in some groups alone. It is there from its first subject to its last."
    >
      <InProject>{(projectId) => <GroupList projectId={projectId} />}</InProject>
    </Page>
  )
}

function GroupList({ projectId }: { readonly projectId: string }) {
  const { q, cursor } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('admin')
  const [chosen, setChosen] = useState<string>()
  const asked = useAnswer('/projects/:projectId/groups', {
    parts: { projectId },
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
        asked={asked}
        keyOf={({ name }) => name}
        columns={columnsOf(projectId, mayWrite ? setChosen : undefined)}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <Empty title="No groups here">
            Name groups when you enroll (parameter groups), or edit a subject.
          </Empty>
        }
      />
      {chosen && (
        <DeleteGroup projectId={projectId} name={chosen} onClose={() => setChosen(undefined)} />
      )}
    </>
  )
}

function columnsOf(
  projectId: string,
  onDelete: ((name: string) => void) | undefined,
): readonly Column<Group>[] {
  const columns: readonly Column<Group>[] = [
    {
      name: 'Group',
      cell: ({ name }) => (
        <Link to="/subjects" search={{ group: name, projectId }}>
          {name}
        </Link>
      ),
    },
    { name: 'Subjects', align: 'right', cell: ({ subjectCount }) => countOf(subjectCount) },
  ]
  if (!onDelete) return columns
  const actions: Column<Group> = {
    name: 'Actions',
    cell: ({ name }) => (
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
