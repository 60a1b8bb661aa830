import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { AuditEntry, ConsoleProject } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useSignedInSession } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { ShortId } from '../components/names/short-id.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { auditDetailText, auditTextOf, isId, type ProjectNames } from './audit-text.ts'

const route = getRouteApi('/team/audit')

/** The audit log: every change by every user, kept permanently. */
export function AuditPage() {
  const { cursor, sort, limit, projectId: selectedProjectId, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { currency } = useSignedInSession()
  const projects = useApiQuery('/projects')
  const columns = useMemo(
    () => columnsOf(currency, namesOf(projects.data?.items)),
    [currency, projects.data],
  )
  const users = useApiQuery('/users')
  const actions = useApiQuery('/audit/actions')
  // An action limits the list on its own: entries of the playground are no changes.
  const kind = filters.kind ?? (filters.auditAction === undefined ? 'changes' : 'all')
  const listFilters = { ...filters, kind: kind === 'all' ? undefined : kind }
  const query = useApiQuery('/audit', { query: { ...listFilters, cursor, sort, limit } })
  const count = useApiQuery('/audit', { query: { ...listFilters, ...countOnly } })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  return (
    <Page
      title="Audit log"
      description="One row per change in the console or by the command line, stored in the same transaction. Rows are never changed."
      actions={<CsvDownloadButton href={csvUrl('/audit', {}, { ...listFilters, sort })} />}
    >
      <FilterBar
        values={filters}
        onClear={() => void navigate({ search: { projectId: selectedProjectId, sort, limit } })}
      >
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
          value={filters.auditAction}
          options={(actions.data ?? []).map(({ auditAction, description }) => ({
            value: auditAction,
            label: description,
          }))}
          onChange={(auditAction) => updateFilters({ auditAction })}
        />
        <PeriodFilter
          fromUtc={filters.fromUtc}
          toUtc={filters.toUtc}
          period={filters.period}
          onChange={updateFilters}
        />
      </FilterBar>
      <ListPanel
        caption="Actions"
        query={query}
        columns={columns}
        rowKey={({ auditId }) => String(auditId)}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-time"
        total={totalOf(count)}
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

function namesOf(projects: readonly ConsoleProject[] = []): ProjectNames {
  return new Map(projects.map(({ projectId, name }) => [projectId, name]))
}

const columnsOf = (currency: string, names: ProjectNames): readonly Column<AuditEntry>[] => [
  {
    name: 'Time (UTC)',
    sort: '-time',
    renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} />,
  },
  { name: 'User', renderCell: ({ userName }) => userName },
  { name: 'Action', renderCell: ({ description }) => description },
  {
    name: 'Target',
    isMonospace: true,
    renderCell: ({ target }) =>
      isId(target) && !names.has(target) ? (
        <ShortId label="target" id={target} />
      ) : (
        <span title={target}>{auditTextOf(target, names)}</span>
      ),
  },
  { name: 'Details', renderCell: ({ detail }) => auditDetailText(detail, currency, names) },
  { name: 'IP address', isMonospace: true, renderCell: ({ ip }) => ip },
]
