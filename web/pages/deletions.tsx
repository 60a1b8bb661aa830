import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Deletion } from '../api/answers.ts'
import { csvAddress } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar, TextFilter } from '../parts/filters.tsx'
import { InProject } from '../parts/in-project.tsx'
import { CsvButton, ListPanel } from '../parts/list-panel.tsx'
import { countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { PeriodFilter } from '../parts/period-filter.tsx'
import { Tag } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'

const route = getRouteApi('/deletions')

/** What was deleted and when, for ever; nothing of what it was. */
export function DeletionsPage() {
  return (
    <Page
      title="Deletion ledger"
      lead="One record for each deleted subject, kept for ever and chained by hashes, so that none can be changed or taken out unseen."
    >
      <InProject>{(projectId) => <DeletionList projectId={projectId} />}</InProject>
    </Page>
  )
}

function DeletionList({ projectId }: { readonly projectId: string }) {
  const { projectId: chosen, cursor, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const parts = { projectId }
  const asked = useAnswer('/projects/:projectId/deletions', {
    parts,
    query: { ...filters, cursor },
  })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  return (
    <>
      <ChainState projectId={projectId} />
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
        <CsvButton href={csvAddress('/projects/:projectId/deletions', parts, filters)} />
      </FilterBar>
      <ListPanel
        caption="Deletions, latest first"
        asked={asked}
        columns={columns}
        keyOf={({ deletionId }) => deletionId}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <Empty title="Nothing was deleted">
            svc.deleteSubject, a group’s deletion, an expiry and the console each leave a record
            here.
          </Empty>
        }
      />
    </>
  )
}

function ChainState({ projectId }: { readonly projectId: string }) {
  const asked = useAnswer('/projects/:projectId/deletions/check', { parts: { projectId } })
  if (!asked.data) return null
  const { ok, detail } = asked.data
  return (
    <Group gap="xs">
      <Tag tone={ok ? 'ok' : 'bad'}>
        {ok ? 'The chain of records is whole.' : 'The chain of records is broken.'}
      </Tag>
      <Text size="xs" c="dimmed">
        {detail}
      </Text>
    </Group>
  )
}

const columns: readonly Column<Deletion>[] = [
  { name: 'Deleted (UTC)', cell: ({ deletedAtUtc }) => <Utc at={deletedAtUtc} /> },
  { name: 'Subject id', mono: true, cell: ({ subjectId }) => subjectId },
  { name: 'External id', mono: true, cell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', cell: ({ groups }) => groups.join(', ') || '–' },
  { name: 'Templates', align: 'right', cell: ({ embeddingCount }) => countOf(embeddingCount) },
  { name: 'Record', mono: true, cell: ({ deletionId }) => deletionId },
]
