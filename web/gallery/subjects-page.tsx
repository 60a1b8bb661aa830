import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleSubject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../projects/project-scope.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { SubjectDrawer } from './subject-drawer.tsx'

const route = getRouteApi('/subjects')

/** The subjects of a gallery. */
export function SubjectsPage() {
  return (
    <Page
      title="Subjects"
      description="The people that svc.identify can match. The service stores templates, not images, unless Store crops is on. Names and attributes come from your API calls."
    >
      <ProjectScope>{(projectId) => <SubjectList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function SubjectList({ projectId }: { readonly projectId: string }) {
  const search = route.useSearch()
  const { projectId: selectedProjectId, subject, cursor, sort, limit, ...filters } = search
  const navigate = route.useNavigate()
  const pathParams = { projectId }
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams,
    query: { ...filters, cursor, sort, limit },
  })
  const count = useApiQuery('/projects/:projectId/subjects', {
    pathParams,
    query: { ...filters, ...countOnly },
  })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  const openSubject = (subjectId: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, subject: subjectId }) })
  const { q, externalId, group, createdFromUtc, createdToUtc, period } = filters
  return (
    <>
      <FilterBar
        values={filters}
        onClear={() => void navigate({ search: { projectId: selectedProjectId, sort, limit } })}
      >
        <TextFilter label="Name or id" value={q} onChange={(text) => updateFilters({ q: text })} />
        <TextFilter
          label="External id"
          value={externalId}
          placeholder="Full id"
          onChange={(text) => updateFilters({ externalId: text })}
        />
        <TextFilter
          label="Group"
          value={group}
          onChange={(text) => updateFilters({ group: text })}
        />
        <PeriodFilter
          fromUtc={createdFromUtc}
          toUtc={createdToUtc}
          period={period}
          onChange={(range) =>
            updateFilters({
              createdFromUtc: range.fromUtc,
              createdToUtc: range.toUtc,
              period: range.period,
            })
          }
        />
      </FilterBar>
      <ListPanel
        caption="Subjects"
        query={query}
        columns={columns}
        rowKey={({ subjectId }) => subjectId}
        {...listSearch(
          search,
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="created"
        total={totalOf(count)}
        onOpen={({ subjectId }) => openSubject(subjectId)}
        openLabel={(row) => `Open ${row.displayName ?? row.externalId ?? row.subjectId}`}
        empty={
          <EmptyState
            title="No subjects match"
            action={
              <LinkButton to="/playground" search={{ action: 'svc.enroll', projectId }} size="xs">
                Enroll a subject
              </LinkButton>
            }
          >
            svc.enroll creates a subject from an image, or adds a template to a subject.
          </EmptyState>
        }
      />
      {subject && (
        <SubjectDrawer
          projectId={projectId}
          subjectId={subject}
          onClose={() => openSubject(undefined)}
        />
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
  {
    name: 'Enrolled',
    sort: '-created',
    renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} />,
  },
  {
    name: 'Updated',
    sort: '-updated',
    renderCell: ({ updatedAtUtc }) => <UtcTime timestampUtc={updatedAtUtc} />,
  },
  {
    name: 'Expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="Never" />,
  },
  { name: 'Subject id', isMonospace: true, renderCell: ({ subjectId }) => subjectId },
]
