import { SimpleGrid } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ConsoleTransfer } from '../../api/responses.ts'
import { csvUrl } from '../../api/api.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { IntegrityCheck } from '../integrity-check.tsx'
import { Reconciliation } from '../reconciliation.tsx'
import { TransferDrawer } from './transfer-drawer.tsx'
import type { Column } from '../../lists/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../../lists/filters.tsx'
import { CsvDownloadButton, ListPanel } from '../../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../../lists/list-search.ts'
import { LedgerName } from './ledger-name.tsx'
import { transferKindText, transferKinds } from './ledger-text.ts'
import { MoneyAmount } from '../money-amount.tsx'
import { Page } from '../../layout/page.tsx'
import { Panel } from '../../layout/panel.tsx'
import { PeriodFilter } from '../../lists/period-filter.tsx'
import { UtcTime } from '../../components/utc-time.tsx'

const route = getRouteApi('/money/ledger')

/** Every transfer, the reconciliation with the request log, and the integrity checks. */
export function LedgerPage() {
  const { cursor, sort, limit, transfer, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { projectId, kind, fromUtc, toUtc, period } = filters
  const values = { kind, fromUtc, toUtc, period }
  const query = useApiQuery('/money/ledger', { query: { ...filters, cursor, sort, limit } })
  const count = useApiQuery('/money/ledger', { query: { ...filters, ...countOnly } })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  const openTransfer = query.data?.items.find((item) => String(item.transferId) === transfer)
  return (
    <Page
      title="Ledger"
      description="Double-entry ledger. The postings of each transfer add up to zero. Entries are never changed."
      actions={<CsvDownloadButton href={csvUrl('/money/ledger', {}, { ...filters, sort })} />}
    >
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Reconciliation">
          <Reconciliation range={{ projectId, fromUtc, toUtc, period }} />
        </Panel>
        <Panel title="Integrity checks">
          <IntegrityCheck />
        </Panel>
      </SimpleGrid>
      <FilterBar
        values={values}
        rows={query.data?.items}
        onClear={() => void navigate({ search: { projectId, sort, limit } })}
      >
        <ChoiceFilter
          label="Kind"
          value={kind}
          options={transferKinds}
          onChange={(value) => updateFilters({ kind: value })}
        />
        <PeriodFilter {...{ fromUtc, toUtc, period }} onChange={updateFilters} />
      </FilterBar>
      <ListPanel
        caption="Transfers"
        query={query}
        columns={columns}
        rowKey={({ transferId }) => String(transferId)}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-time"
        total={totalOf(count)}
        onOpen={({ transferId }) =>
          void navigate({ search: (old) => ({ ...old, transfer: String(transferId) }) })
        }
        openLabel={(row) => `Open ${transferKindText(row.kind)} of ${row.atUtc}`}
        empty={
          Object.values(values).some((value) => value !== undefined) ? (
            <EmptyState title="No transfers match">
              Clear the filters to see all transfers.
            </EmptyState>
          ) : (
            <EmptyState title="No transfers yet">
              Top-ups, allocations and charges are listed here.
            </EmptyState>
          )
        }
      />
      {openTransfer && (
        <TransferDrawer
          transfer={openTransfer}
          onClose={() =>
            void navigate({ search: (old) => ({ ...old, transfer: undefined }), replace: true })
          }
        />
      )}
    </Page>
  )
}

const columns: readonly Column<ConsoleTransfer>[] = [
  {
    name: 'Time (UTC)',
    sort: '-time',
    renderCell: ({ atUtc }) => <UtcTime timestampUtc={atUtc} />,
  },
  { name: 'Kind', renderCell: ({ kind }) => transferKindText(kind) },
  {
    name: 'From',
    renderCell: (row) => <LedgerName ledger={row.fromLedger} transfer={row} />,
  },
  { name: 'To', renderCell: (row) => <LedgerName ledger={row.toLedger} transfer={row} /> },
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
