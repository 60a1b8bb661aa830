import { getRouteApi } from '@tanstack/react-router'
import type { CallLogEntry } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CallDrawer } from './call-drawer.tsx'
import { LogFilters } from './log-filters.tsx'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { CallCost } from '../money/call-cost.tsx'
import { formatDuration } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/log')

/** Every call with its time, key, result, latency and cost. */
export function LogPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { call, cursor, ...filters } = search
  const query = useApiQuery('/log', { query: { ...filters, cursor } })
  return (
    <Page
      title="Request log"
      description="One row per call, stored together with its charge. Images and templates are never logged."
      actions={<CsvDownloadButton href={csvUrl('/log', {}, filters)} />}
    >
      <LogFilters
        filters={filters}
        onChange={(change) =>
          void navigate({ search: (old) => ({ ...old, ...change, cursor: undefined }) })
        }
        onClear={() => void navigate({ search: { projectId: filters.projectId } })}
      />
      <ListPanel
        caption="Calls, latest first"
        query={query}
        columns={columns}
        rowKey={({ callId }) => String(callId)}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ callId }) =>
          void navigate({ search: (old) => ({ ...old, call: String(callId) }) })
        }
        openLabel={({ action, atUtc }) => `Open ${action} call of ${atUtc}`}
        empty={
          <EmptyState title="No calls match">
            API and playground calls are listed here. Clear the filters or send a call.
          </EmptyState>
        }
      />
      {call && (
        <CallDrawer
          callId={call}
          onClose={() => void navigate({ search: (old) => ({ ...old, call: undefined }) })}
        />
      )}
    </Page>
  )
}

const columns: readonly Column<CallLogEntry>[] = [
  { name: 'Time (UTC)', renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} /> },
  { name: 'Action', isMonospace: true, renderCell: ({ action }) => action },
  {
    name: 'Result',
    renderCell: ({ ok, code, isReplay }) => (
      <StatusTag tone={ok ? 'ok' : 'bad'}>
        {ok ? 'ok' : (code ?? 'failed')}
        {isReplay && ' · replay'}
      </StatusTag>
    ),
  },
  { name: 'Project', renderCell: ({ projectName }) => projectName },
  { name: 'Key', renderCell: ({ keyName }) => keyName },
  { name: 'Latency', align: 'right', renderCell: ({ latencyMs }) => formatDuration(latencyMs) },
  {
    name: 'Cost',
    align: 'right',
    renderCell: (call) => <CallCost call={call} />,
  },
]
