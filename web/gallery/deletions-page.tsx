import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleDeletion } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../components/project-scope.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/deletions')

/** What was deleted and when, for ever; nothing of what it was. */
export function DeletionsPage() {
  return (
    <Page
      title="Deletion ledger"
      description="One record for each deleted subject, kept for ever and chained by hashes, so that none can be changed or taken out unseen."
    >
      <ProjectScope>{(projectId) => <DeletionList projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

function DeletionList({ projectId }: { readonly projectId: string }) {
  const { projectId: chosen, cursor, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const parts = { projectId }
  const asked = useApiQuery('/projects/:projectId/deletions', {
    pathParams: parts,
    query: { ...filters, cursor },
  })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  return (
    <>
      <ChainStatus projectId={projectId} />
      <FilterBar onClear={() => void navigate({ search: { projectId: chosen } })}>
        <TextFilter
          label="Subject id"
          value={filters.subjectId}
          onChange={(subjectId) => change({ subjectId })}
        />
        <TextFilter
          label="External id"
          value={filters.externalId}
          onChange={(externalId) => change({ externalId })}
        />
        <PeriodFilter fromUtc={filters.fromUtc} toUtc={filters.toUtc} onChange={change} />
        <CsvDownloadButton href={csvUrl('/projects/:projectId/deletions', parts, filters)} />
      </FilterBar>
      <ListPanel
        caption="Deletions, latest first"
        query={asked}
        columns={columns}
        rowKey={({ deletionId }) => deletionId}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="Nothing was deleted">
            svc.deleteSubject, a group’s deletion, an expiry and the console each leave a record
            here.
          </EmptyState>
        }
      />
    </>
  )
}

function ChainStatus({ projectId }: { readonly projectId: string }) {
  const asked = useApiQuery('/projects/:projectId/deletions/check', { pathParams: { projectId } })
  if (!asked.data) return null
  const { ok, detail } = asked.data
  return (
    <Group gap="xs">
      <StatusTag tone={ok ? 'ok' : 'bad'}>
        {ok ? 'The chain of records is whole.' : 'The chain of records is broken.'}
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
  { name: 'Subject id', isMonospace: true, renderCell: ({ subjectId }) => subjectId },
  { name: 'External id', isMonospace: true, renderCell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', renderCell: ({ groups }) => groups.join(', ') || '–' },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  { name: 'Record', isMonospace: true, renderCell: ({ deletionId }) => deletionId },
]
