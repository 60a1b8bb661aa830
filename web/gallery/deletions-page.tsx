import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleDeletion } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../projects/project-scope.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { ShortId } from '../components/names/short-id.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/deletions')

/** The permanent records of deleted subjects: ids, groups and times. */
export function DeletionsPage() {
  return (
    <Page
      title="Deletion ledger"
      description="One permanent record per deleted subject. A hash chain reveals changed or removed records."
    >
      <ProjectScope>{(projectId) => <DeletionList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function DeletionList({ projectId }: { readonly projectId: string }) {
  const { projectId: selectedProjectId, cursor, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const pathParams = { projectId }
  const query = useApiQuery('/projects/:projectId/deletions', {
    pathParams,
    query: { ...filters, cursor },
  })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  return (
    <>
      <ChainStatus projectId={projectId} />
      <FilterBar onClear={() => void navigate({ search: { projectId: selectedProjectId } })}>
        <TextFilter
          label="Subject id"
          value={filters.subjectId}
          onChange={(subjectId) => updateFilters({ subjectId })}
        />
        <TextFilter
          label="External id"
          value={filters.externalId}
          onChange={(externalId) => updateFilters({ externalId })}
        />
        <PeriodFilter fromUtc={filters.fromUtc} toUtc={filters.toUtc} onChange={updateFilters} />
        <CsvDownloadButton href={csvUrl('/projects/:projectId/deletions', pathParams, filters)} />
      </FilterBar>
      <ListPanel
        caption="Deletions, latest first"
        query={query}
        columns={columns}
        rowKey={({ deletionId }) => deletionId}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="No deletions">
            Subjects deleted by svc.deleteSubject, group deletion, expiry or the console are listed
            here.
          </EmptyState>
        }
      />
    </>
  )
}

function ChainStatus({ projectId }: { readonly projectId: string }) {
  const query = useApiQuery('/projects/:projectId/deletions/check', { pathParams: { projectId } })
  if (!query.data) return null
  const { ok, detail } = query.data
  return (
    <Group gap="xs">
      <StatusTag tone={ok ? 'ok' : 'bad'}>
        {ok ? 'Hash chain valid' : 'Hash chain broken'}
      </StatusTag>
      <Text size="xs" c="dimmed">
        {detail}
      </Text>
    </Group>
  )
}

const columns: readonly Column<ConsoleDeletion>[] = [
  {
    name: 'Deleted (UTC)',
    renderCell: ({ deletedAtUtc }) => <UtcTime timestampUtc={deletedAtUtc} />,
  },
  {
    name: 'Subject id',
    renderCell: ({ subjectId }) => <ShortId label="subject id" id={subjectId} />,
  },
  { name: 'External id', isMonospace: true, renderCell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', renderCell: ({ groups }) => groups.join(', ') || '–' },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  {
    name: 'Record id',
    renderCell: ({ deletionId }) => <ShortId label="record id" id={deletionId} />,
  },
]
