import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleDeletion } from '../../api/responses.ts'
import { csvUrl } from '../../api/api.ts'
import { useApiQuery } from '../../api/use-api.ts'
import type { Column } from '../../lists/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../../lists/list-search.ts'
import { formatCount } from '../../format/numbers.ts'
import { Page } from '../../layout/page.tsx'
import { PeriodFilter } from '../../lists/period-filter.tsx'
import { ShortId } from '../../components/names/short-id.tsx'
import { StatusTag } from '../../components/status-tag.tsx'
import { UtcTime } from '../../components/utc-time.tsx'

const route = getRouteApi('/deletions')

/** The permanent records of deleted subjects: ids, groups and times. */
export function DeletionsPage() {
  const { cursor, sort, limit, ...filters } = route.useSearch()
  const { projectId, ...values } = filters
  const navigate = route.useNavigate()
  const query = useApiQuery('/deletions', { query: { ...filters, cursor, sort, limit } })
  const count = useApiQuery('/deletions', { query: { ...filters, ...countOnly } })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  return (
    <Page
      title="Deletion ledger"
      description="One permanent record per deleted subject. A hash chain reveals changed or removed records. A record opens its certificate."
      actions={<CsvDownloadButton href={csvUrl('/deletions', {}, { ...filters, sort })} />}
    >
      <ChainStatus />
      <FilterBar
        values={values}
        rows={query.data?.items}
        onClear={() => void navigate({ search: { projectId, sort, limit } })}
      >
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
        <PeriodFilter
          fromUtc={filters.fromUtc}
          toUtc={filters.toUtc}
          period={filters.period}
          onChange={updateFilters}
        />
      </FilterBar>
      <ListPanel
        caption="Deletions"
        query={query}
        columns={columns}
        rowKey={({ deletionId }) => deletionId}
        onOpen={({ subjectId }) =>
          void navigate({ to: '/deletions/$subjectId', params: { subjectId } })
        }
        openLabel={({ subjectId }) => `Open the deletion of ${subjectId.slice(0, 8)}`}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-deleted"
        total={totalOf(count)}
        empty={
          Object.values(values).some((value) => value !== undefined) ? (
            <EmptyState title="No deletions match">
              Clear the filters to see all deletions.
            </EmptyState>
          ) : (
            <EmptyState title="No deletions">
              Subjects deleted by svc.deleteSubject, group deletion, expiry or the console are
              listed here.
            </EmptyState>
          )
        }
      />
    </Page>
  )
}

function ChainStatus() {
  const query = useApiQuery('/deletions/check')
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
    sort: '-deleted',
    renderCell: ({ deletedAtUtc }) => <UtcTime timestampUtc={deletedAtUtc} />,
  },
  { name: 'Project', renderCell: ({ projects }) => projects.join(', ') || '–' },
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
