import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleSubject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../components/project-scope.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { SubjectDrawer } from './subject-drawer.tsx'

const route = getRouteApi('/subjects')

/** The people of a gallery, by what the callers named them. */
export function SubjectsPage() {
  return (
    <Page
      title="Subjects"
      description="The people whom svc.identify can find. The service keeps templates, not pictures; names and attributes are the ones your programs sent."
    >
      <ProjectScope>{(projectId) => <SubjectList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function SubjectList({ projectId }: { readonly projectId: string }) {
  const { projectId: chosen, subject, cursor, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const parts = { projectId }
  const asked = useApiQuery('/projects/:projectId/subjects', {
    pathParams: parts,
    query: { ...filters, cursor },
  })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  const show = (subjectId: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, subject: subjectId }) })
  const { q, externalId, group, createdFromUtc, createdToUtc } = filters
  return (
    <>
      <FilterBar onClear={() => void navigate({ search: { projectId: chosen } })}>
        <TextFilter label="Name or id" value={q} onChange={(text) => change({ q: text })} />
        <TextFilter
          label="External id"
          value={externalId}
          placeholder="the whole id"
          onChange={(text) => change({ externalId: text })}
        />
        <TextFilter label="Group" value={group} onChange={(text) => change({ group: text })} />
        <PeriodFilter
          fromUtc={createdFromUtc}
          toUtc={createdToUtc}
          onChange={({ fromUtc, toUtc }) =>
            change({ createdFromUtc: fromUtc, createdToUtc: toUtc })
          }
        />
      </FilterBar>
      <ListPanel
        caption="Subjects"
        query={asked}
        columns={columns}
        rowKey={({ subjectId }) => subjectId}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ subjectId }) => show(subjectId)}
        openLabel={({ displayName, externalId: own, subjectId }) =>
          `Open ${displayName ?? own ?? subjectId}`
        }
        empty={
          <EmptyState
            title="No subjects match"
            action={
              <LinkButton to="/playground" search={{ action: 'svc.enroll', projectId }} size="xs">
                Enroll somebody
              </LinkButton>
            }
          >
            Each svc.enroll makes a subject out of a picture, or adds a template to one.
          </EmptyState>
        }
      />
      {subject && (
        <SubjectDrawer projectId={projectId} subjectId={subject} onClose={() => show(undefined)} />
      )}
    </>
  )
}

const columns: readonly Column<ConsoleSubject>[] = [
  { name: 'Name', renderCell: ({ displayName }) => displayName ?? '–' },
  { name: 'External id', isMonospace: true, renderCell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', renderCell: ({ groups }) => groups.join(', ') || '–' },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  { name: 'Enrolled', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="never" />,
  },
  { name: 'Subject id', isMonospace: true, renderCell: ({ subjectId }) => subjectId },
]
