import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { CallLogEntry } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { RowActions } from './call-actions.tsx'
import { CallDrawer } from './call-drawer.tsx'
import { codeText } from './code-text.ts'
import { CallOutcome } from './call-outcome.tsx'
import { LiveRefresh, useNewIds, useRefreshMs } from './live-refresh.tsx'
import { filtersOf, LogFilters } from './log-filters.tsx'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import { CallCost } from '../money/call-cost.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/log')

const countPollMs = 10_000

/** Every call with its time, key, result, latency and cost. */
export function LogPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { call, cursor, sort, limit, refresh, ...filters } = search
  const isFiltered = Object.values(filtersOf(filters)).some((value) => value !== undefined)
  const isFirstPage = cursor === undefined
  const { pollMs, isPaused } = useRefreshMs(refresh)
  const query = useApiQuery('/log', {
    query: { ...filters, cursor, sort, limit },
    pollMs: () => isFirstPage && pollMs,
  })
  // Counting reads more rows than a page, so it is refreshed less often.
  const count = useApiQuery('/log', {
    query: { ...filters, ...countOnly },
    pollMs: () => isFirstPage && pollMs && Math.max(pollMs, countPollMs),
  })
  const items = query.isPlaceholderData ? undefined : query.data?.items
  const ids = useMemo(() => items?.map(({ callId }) => callId), [items])
  const newIds = useNewIds(JSON.stringify([filters, cursor, sort, limit]), ids)
  return (
    <Page
      title="Request log"
      description="One row per call, stored together with its charge. Templates, names and ids of subjects are never logged. A project can keep pictures of near misses for up to 72 hours."
      actions={
        <>
          <LiveRefresh
            seconds={refresh}
            isPaused={isPaused}
            isFirstPage={isFirstPage}
            newCount={newIds.size}
            onChange={(value) => void navigate({ search: (old) => ({ ...old, refresh: value }) })}
          />
          <CsvDownloadButton href={csvUrl('/log', {}, { ...filters, sort })} />
        </>
      }
    >
      <LogFilters
        filters={filters}
        calls={query.data?.items}
        onChange={(change) =>
          void navigate({ search: (old) => ({ ...old, ...change, cursor: undefined }) })
        }
        onClear={() =>
          void navigate({ search: { projectId: filters.projectId, refresh, sort, limit } })
        }
      />
      <ListPanel
        caption="Calls"
        query={query}
        columns={filters.projectId === undefined ? columns : columnsOfProject}
        rowKey={({ callId }) => String(callId)}
        isNew={({ callId }) => newIds.has(callId)}
        {...listSearch(
          search,
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-time"
        total={totalOf(count)}
        onOpen={({ callId }) =>
          void navigate({ search: (old) => ({ ...old, call: String(callId) }) })
        }
        openLabel={({ action, atUtc }) => `Open ${action} call of ${atUtc}`}
        rowActions={(row) => <RowActions call={row} />}
        empty={
          isFiltered ? (
            <EmptyState title="No calls match">Clear the filters to see all calls.</EmptyState>
          ) : (
            <EmptyState title="No calls yet">
              API and playground calls are listed here. Send the first one in the playground.
            </EmptyState>
          )
        }
      />
      {call && (
        <CallDrawer
          callId={call}
          otherIds={neighboursOf(call, items)}
          onOpen={(id) => void navigate({ search: (old) => ({ ...old, call: id }), replace: true })}
          onClose={() =>
            void navigate({ search: (old) => ({ ...old, call: undefined }), replace: true })
          }
        />
      )}
    </Page>
  )
}

/** Returns the calls above and below an open call on the page. */
function neighboursOf(
  callId: string,
  items: readonly CallLogEntry[] = [],
): { readonly above: string | undefined; readonly below: string | undefined } {
  const ids = items.map((item) => String(item.callId))
  const index = ids.indexOf(callId)
  if (index === -1) return { above: undefined, below: undefined }
  return { above: ids[index - 1], below: ids[index + 1] }
}

const columns: readonly Column<CallLogEntry>[] = [
  {
    name: 'Time (UTC)',
    sort: '-time',
    renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} />,
  },
  { name: 'Action', isMonospace: true, renderCell: ({ action }) => action },
  { name: 'Result', isFlexible: true, renderCell: (call) => <CallResult call={call} /> },
  { name: 'Outcome', renderCell: (call) => <CallOutcome call={call} /> },
  { name: 'Project', renderCell: ({ projectName }) => <RowName name={projectName} /> },
  { name: 'Key', renderCell: ({ keyName }) => <RowName name={keyName} /> },
  {
    name: 'Request id',
    isForWideWindow: true,
    renderCell: ({ requestId }) => (
      <span className="fg-mono" title={requestId}>
        {requestId.slice(0, 8)}
      </span>
    ),
  },
  {
    name: 'Latency',
    sort: '-latency',
    align: 'right',
    renderCell: ({ latencyMs }) => formatDuration(latencyMs),
  },
  {
    name: 'Cost',
    align: 'right',
    renderCell: (call) => <CallCost call={call} />,
  },
]

/** The filter states the project already. */
const columnsOfProject = columns.filter(({ name }) => name !== 'Project')

function RowName({ name }: { readonly name: string }) {
  return (
    <span className="fg-row-name" title={name}>
      {name}
    </span>
  )
}

function CallResult({ call: { ok, code, isReplay, message } }: { readonly call: CallLogEntry }) {
  return (
    <span className="fg-row-line">
      <StatusTag tone={ok ? 'ok' : 'bad'}>
        <span title={code}>{ok ? 'ok' : codeText(code)}</span>
        {isReplay && ' · repeated'}
      </StatusTag>
      {message !== null && (
        <span className="fg-row-note" title={message}>
          {message.replace(/^[\w.[\]]+: /u, '')}
        </span>
      )}
    </span>
  )
}
