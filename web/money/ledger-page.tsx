import { SimpleGrid } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ConsoleTransfer } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import { useApiQuery } from '../api/use-api.ts'
import { IntegrityCheck } from './integrity-check.tsx'
import { Reconciliation } from './reconciliation.tsx'
import { TransferDrawer } from './transfer-drawer.tsx'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/money/ledger')
const transferKinds = ['topUp', 'allocate', 'charge'] as const

/** Every movement of money, and whether the books are whole and agree with the request log. */
export function LedgerPage() {
  const { cursor, transfer, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { projectId, kind, fromUtc, toUtc } = filters
  const asked = useApiQuery('/money/ledger', { query: { ...filters, cursor } })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  const opened = asked.data?.items.find((item) => String(item.transferId) === transfer)
  return (
    <Page
      title="Money audit"
      description="Double-entry books: every movement takes from one ledger what it gives to another, and nothing is ever changed afterwards."
      actions={<CsvDownloadButton href={csvUrl('/money/ledger', {}, filters)} />}
    >
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Log and ledger">
          <Reconciliation fromUtc={fromUtc} toUtc={toUtc} />
        </Panel>
        <Panel title="The books">
          <IntegrityCheck />
        </Panel>
      </SimpleGrid>
      <FilterBar onClear={() => void navigate({ search: { projectId } })}>
        <ChoiceFilter
          label="Kind"
          value={kind}
          options={transferKinds}
          onChange={(value) => change({ kind: value })}
        />
        <PeriodFilter fromUtc={fromUtc} toUtc={toUtc} onChange={change} />
      </FilterBar>
      <ListPanel
        caption="Movements, latest first"
        query={asked}
        columns={columns}
        rowKey={({ transferId }) => String(transferId)}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ transferId }) =>
          void navigate({ search: (old) => ({ ...old, transfer: String(transferId) }) })
        }
        openLabel={({ kind: what, atUtc }) => `Open the ${what} of ${atUtc}`}
        empty={
          <EmptyState title="No movements match">
            Top-ups, allocations and the charge of each billed call stand here.
          </EmptyState>
        }
      />
      {opened && (
        <TransferDrawer
          transfer={opened}
          onClose={() => void navigate({ search: (old) => ({ ...old, transfer: undefined }) })}
        />
      )}
    </Page>
  )
}

const columns: readonly Column<ConsoleTransfer>[] = [
  { name: 'Time (UTC)', renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} /> },
  { name: 'Kind', renderCell: ({ kind }) => kind },
  { name: 'From', isMonospace: true, renderCell: ({ fromLedger }) => fromLedger },
  { name: 'To', isMonospace: true, renderCell: ({ toLedger }) => toLedger },
  { name: 'Project', renderCell: ({ projectName }) => projectName ?? '–' },
  {
    name: 'Request',
    isMonospace: true,
    renderCell: ({ requestId }) =>
      requestId ? (
        <Link to="/log" search={{ requestId }}>
          {requestId.slice(0, 8)}
        </Link>
      ) : (
        '–'
      ),
  },
  {
    name: 'Amount',
    align: 'right',
    renderCell: ({ amountMicros }) => <MoneyAmount micros={amountMicros} />,
  },
]
