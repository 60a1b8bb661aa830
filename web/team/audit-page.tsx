import { getRouteApi } from '@tanstack/react-router'
import type { AuditEntry } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/team/audit')

/** Every act of everybody in the console, for ever. */
export function AuditPage() {
  const { cursor, projectId: chosen, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useApiQuery('/users')
  const asked = useApiQuery('/audit', { query: { ...filters, cursor } })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  return (
    <Page
      title="Audit"
      description="Each change made in the console is one row, written in the same transaction as the change itself. Rows are never changed."
      actions={<CsvDownloadButton href={csvUrl('/audit', {}, filters)} />}
    >
      <FilterBar onClear={() => void navigate({ search: { projectId: chosen } })}>
        <ChoiceFilter
          label="User"
          value={filters.userId}
          options={(users.data?.items ?? []).map(({ userId, name }) => ({
            value: userId,
            label: name,
          }))}
          onChange={(userId) => change({ userId })}
        />
        <TextFilter
          label="Act"
          value={filters.act}
          placeholder="such as key.create"
          onChange={(act) => change({ act })}
        />
        <PeriodFilter fromUtc={filters.fromUtc} toUtc={filters.toUtc} onChange={change} />
      </FilterBar>
      <ListPanel
        caption="Acts, latest first"
        query={asked}
        columns={columns}
        rowKey={({ auditId }) => String(auditId)}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="No acts match">
            Signing in, making a key and every other write.
          </EmptyState>
        }
      />
    </Page>
  )
}

const columns: readonly Column<AuditEntry>[] = [
  { name: 'Time (UTC)', renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} /> },
  { name: 'Who', renderCell: ({ userName }) => userName },
  { name: 'Act', isMonospace: true, renderCell: ({ act }) => act },
  { name: 'Of what', isMonospace: true, renderCell: ({ target }) => target },
  { name: 'Detail', isMonospace: true, renderCell: ({ detail }) => detailText(detail) },
  { name: 'From', isMonospace: true, renderCell: ({ ip }) => ip },
]

function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
