import { getRouteApi } from '@tanstack/react-router'
import type { AuditEntry } from '../api/answers.ts'
import { csvAddress } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../parts/filters.tsx'
import { CsvButton, ListPanel } from '../parts/list-panel.tsx'
import { Page } from '../parts/page.tsx'
import { PeriodFilter } from '../parts/period-filter.tsx'
import { Utc } from '../parts/utc.tsx'

const route = getRouteApi('/team/audit')

/** Every act of everybody in the console, for ever. */
export function AuditPage() {
  const { cursor, projectId: chosen, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useAnswer('/users')
  const asked = useAnswer('/audit', { query: { ...filters, cursor } })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  return (
    <Page
      title="Audit"
      lead="Each change made in the console is one row, written in the same transaction as the change itself. Rows are never changed."
      actions={<CsvButton href={csvAddress('/audit', {}, filters)} />}
    >
      <FilterBar onClear={() => void navigate({ search: { projectId: chosen } })}>
        <ChoiceFilter
          label="User"
          value={filters.userId}
          choices={(users.data?.items ?? []).map(({ userId, name }) => ({
            value: userId,
            label: name,
          }))}
          onChange={(userId) => change({ userId })}
        />
        <TextFilter
          label="Act"
          value={filters.act}
          placeholder="such as key.mint"
          onChange={(act) => change({ act })}
        />
        <PeriodFilter fromUtc={filters.fromUtc} toUtc={filters.toUtc} onChange={change} />
      </FilterBar>
      <ListPanel
        caption="Acts, latest first"
        asked={asked}
        columns={columns}
        keyOf={({ auditId }) => String(auditId)}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={<Empty title="No acts match">Signing in, making a key and every other write.</Empty>}
      />
    </Page>
  )
}

const columns: readonly Column<AuditEntry>[] = [
  { name: 'Time (UTC)', cell: ({ atUtc }) => <Utc at={atUtc} /> },
  { name: 'Who', cell: ({ userName }) => userName },
  { name: 'Act', mono: true, cell: ({ act }) => act },
  { name: 'Of what', mono: true, cell: ({ target }) => target },
  { name: 'Detail', mono: true, cell: ({ detail }) => detailText(detail) },
  { name: 'From', mono: true, cell: ({ ip }) => ip },
]

function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
