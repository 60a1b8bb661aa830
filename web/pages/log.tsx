import { getRouteApi } from '@tanstack/react-router'
import type { Call } from '../api/answers.ts'
import { csvAddress } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { CallSheet } from '../log/call-sheet.tsx'
import { LogFilters } from '../log/log-filters.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { CsvButton, ListPanel } from '../parts/list-panel.tsx'
import { Money } from '../parts/money.tsx'
import { durationOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { Tag } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'

const route = getRouteApi('/log')

/** Every call: when, with which key, what came of it, how long it took, what it cost. */
export function LogPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { call, cursor, ...filters } = search
  const asked = useAnswer('/log', { query: { ...filters, cursor } })
  return (
    <Page
      title="Request log"
      lead="Each call is one row, written with its charge. Pictures and templates are never logged."
      actions={<CsvButton href={csvAddress('/log', {}, filters)} />}
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
        asked={asked}
        columns={columns}
        keyOf={({ callId }) => String(callId)}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ callId }) =>
          void navigate({ search: (old) => ({ ...old, call: String(callId) }) })
        }
        openLabel={({ action, atUtc }) => `Open the call ${action} of ${atUtc}`}
        empty={
          <Empty title="No calls match">
            Calls of POST /v1/face/execute and of the playground stand here. Clear the filters, or
            make a call.
          </Empty>
        }
      />
      {call && (
        <CallSheet
          callId={call}
          onClose={() => void navigate({ search: (old) => ({ ...old, call: undefined }) })}
        />
      )}
    </Page>
  )
}

const columns: readonly Column<Call>[] = [
  { name: 'Time (UTC)', cell: ({ atUtc }) => <Utc at={atUtc} /> },
  { name: 'Action', mono: true, cell: ({ action }) => action },
  {
    name: 'Result',
    cell: ({ ok, code, isReplay }) => (
      <Tag tone={ok ? 'ok' : 'bad'}>
        {ok ? 'ok' : (code ?? 'failed')}
        {isReplay && ' · replay'}
      </Tag>
    ),
  },
  { name: 'Project', cell: ({ projectName }) => projectName },
  { name: 'Key', cell: ({ keyName }) => keyName },
  { name: 'Took', align: 'right', cell: ({ latencyMs }) => durationOf(latencyMs) },
  {
    name: 'Cost',
    align: 'right',
    cell: ({ billed, costMicros }) => (billed ? <Money micros={costMicros} /> : 'not billed'),
  },
]
