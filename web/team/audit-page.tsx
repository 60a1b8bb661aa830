import { getRouteApi } from '@tanstack/react-router'
import type { AuditEntry } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/team/audit')

/** The audit log: every change by every user, kept permanently. */
export function AuditPage() {
  const { cursor, projectId: selectedProjectId, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const users = useApiQuery('/users')
  const acts = useApiQuery('/audit/acts')
  const kind = filters.kind ?? 'changes'
  const listFilters = { ...filters, kind: kind === 'all' ? undefined : kind }
  const query = useApiQuery('/audit', { query: { ...listFilters, cursor } })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  return (
    <Page
      title="Audit log"
      description="One row per change in the console or by the command line, stored in the same transaction. Rows are never changed."
      actions={<CsvDownloadButton href={csvUrl('/audit', {}, listFilters)} />}
    >
      <FilterBar onClear={() => void navigate({ search: { projectId: selectedProjectId } })}>
        <ChoiceFilter
          label="User"
          value={filters.userId}
          options={(users.data?.items ?? []).map(({ userId, name }) => ({
            value: userId,
            label: name,
          }))}
          onChange={(userId) => updateFilters({ userId })}
        />
        <ChoiceFilter
          label="Entries"
          value={kind}
          options={kindOptions}
          onChange={(next) => updateFilters({ kind: next })}
        />
        <ChoiceFilter
          label="Action"
          value={filters.act}
          options={(acts.data ?? []).map(({ act, action }) => ({ value: act, label: action }))}
          onChange={(act) => updateFilters({ act })}
        />
        <PeriodFilter fromUtc={filters.fromUtc} toUtc={filters.toUtc} onChange={updateFilters} />
      </FilterBar>
      <ListPanel
        caption="Actions, latest first"
        query={query}
        columns={columns}
        rowKey={({ auditId }) => String(auditId)}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="No actions match">
            Sign-ins, created keys and all other changes are listed here.
          </EmptyState>
        }
      />
    </Page>
  )
}

const kindOptions = [
  { value: 'changes', label: 'Changes and sign-ins' },
  { value: 'commandLine', label: 'Command line' },
  { value: 'playground', label: 'Playground calls' },
  { value: 'all', label: 'All' },
]

const columns: readonly Column<AuditEntry>[] = [
  { name: 'Time (UTC)', renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} /> },
  { name: 'User', renderCell: ({ userName }) => userName },
  { name: 'Action', renderCell: ({ action }) => action },
  { name: 'Target', isMonospace: true, renderCell: ({ target }) => target },
  { name: 'Details', renderCell: ({ detail }) => detailText(detail) },
  { name: 'IP address', isMonospace: true, renderCell: ({ ip }) => ip },
]

function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${wordsOf(name)}: ${valueText(value)}`)
    .join(', ')
}

/** Returns `galleryMode` as `gallery mode`. */
function wordsOf(name: string): string {
  return name === 'osUser'
    ? 'operating system user'
    : name.replaceAll(/[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(' ')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, inner]) => `${wordsOf(name)} ${valueText(inner)}`)
      .join(' ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
