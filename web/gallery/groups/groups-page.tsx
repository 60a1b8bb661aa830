import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleGroup } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import type { Column } from '../../lists/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../../lists/filters.tsx'
import { ProjectScope } from '../../projects/project-scope.tsx'
import { ListPanel } from '../../lists/list-panel.tsx'
import { listSearch } from '../../lists/list-search.ts'
import { formatCount } from '../../format/numbers.ts'
import { Page } from '../../layout/page.tsx'
import { DeleteGroupDialog } from './delete-group-dialog.tsx'
import { GroupDrawer } from './group-drawer.tsx'

const route = getRouteApi('/groups')

/** The groups of a gallery with the number of subjects in each. */
export function GroupsPage() {
  return (
    <Page
      title="Groups"
      description="Groups are labels on subjects, such as a site or a team. svc.identify can limit a search to groups. A group exists while it contains subjects."
    >
      <ProjectScope>{(projectId) => <GroupList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function GroupList({ projectId }: { readonly projectId: string }) {
  const { q, cursor, sort, limit, group } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [groupToDelete, setGroupToDelete] = useState<string>()
  const query = useApiQuery('/projects/:projectId/groups', {
    pathParams: { projectId },
    query: { q, cursor, sort, limit },
  })
  const openGroup = (name: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, group: name }), replace: name === undefined })
  const search = (text: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, q: text, cursor: undefined }) })
  return (
    <>
      <FilterBar values={{ q }} rows={query.data?.items} onClear={() => search(undefined)}>
        <TextFilter label="Name contains" value={q} onChange={search} />
      </FilterBar>
      <ListPanel
        caption="Groups"
        query={query}
        rowKey={({ name }) => name}
        columns={columnsOf(projectId, mayWrite ? setGroupToDelete : undefined)}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="name"
        onOpen={({ name }) => openGroup(name)}
        openLabel={({ name }) => `Open group ${name}`}
        empty={
          q === undefined ? (
            <EmptyState title="No groups">
              Add groups when you enroll (parameter groups) or edit a subject.
            </EmptyState>
          ) : (
            <EmptyState title="No groups match">Clear the filter to see all groups.</EmptyState>
          )
        }
      />
      {group && (
        <GroupDrawer
          key={group}
          projectId={projectId}
          name={group}
          onRenamed={openGroup}
          onClose={() => openGroup(undefined)}
        />
      )}
      {groupToDelete && (
        <DeleteGroupDialog
          projectId={projectId}
          name={groupToDelete}
          onClose={() => setGroupToDelete(undefined)}
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
      sort: 'name',
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
        aria-label={`Delete subjects: ${name}`}
        onClick={() => onDelete(name)}
      >
        Delete subjects
      </Button>
    ),
  }
  return [...columns, actions]
}
