import { SimpleGrid } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Transfer } from '../api/answers.ts'
import { csvAddress } from '../api/api.ts'
import { useAnswer } from '../api/use-api.ts'
import { BooksCheck } from '../money/books-check.tsx'
import { Reconcile } from '../money/reconcile.tsx'
import { TransferSheet } from '../money/transfer-sheet.tsx'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { ChoiceFilter, FilterBar } from '../parts/filters.tsx'
import { CsvButton, ListPanel } from '../parts/list-panel.tsx'
import { Money } from '../parts/money.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { PeriodFilter } from '../parts/period-filter.tsx'
import { Utc } from '../parts/utc.tsx'

const route = getRouteApi('/money/ledger')
const kinds = ['topUp', 'allocate', 'charge'] as const

/** Every movement of money, and whether the books are whole and agree with the request log. */
export function LedgerPage() {
  const { cursor, transfer, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const { projectId, kind, fromUtc, toUtc } = filters
  const asked = useAnswer('/money/ledger', { query: { ...filters, cursor } })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  const opened = asked.data?.items.find((item) => String(item.transferId) === transfer)
  return (
    <Page
      title="Money audit"
      lead="Double-entry books: every movement takes from one ledger what it gives to another, and nothing is ever changed afterwards."
      actions={<CsvButton href={csvAddress('/money/ledger', {}, filters)} />}
    >
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Panel title="Log and ledger">
          <Reconcile fromUtc={fromUtc} toUtc={toUtc} />
        </Panel>
        <Panel title="The books">
          <BooksCheck />
        </Panel>
      </SimpleGrid>
      <FilterBar onClear={() => void navigate({ search: { projectId } })}>
        <ChoiceFilter
          label="Kind"
          value={kind}
          choices={kinds}
          onChange={(value) => change({ kind: value })}
        />
        <PeriodFilter fromUtc={fromUtc} toUtc={toUtc} onChange={change} />
      </FilterBar>
      <ListPanel
        caption="Movements, latest first"
        asked={asked}
        columns={columns}
        keyOf={({ transferId }) => String(transferId)}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ transferId }) =>
          void navigate({ search: (old) => ({ ...old, transfer: String(transferId) }) })
        }
        openLabel={({ kind: what, atUtc }) => `Open the ${what} of ${atUtc}`}
        empty={
          <Empty title="No movements match">
            Top-ups, allocations and the charge of each billed call stand here.
          </Empty>
        }
      />
      {opened && (
        <TransferSheet
          transfer={opened}
          onClose={() => void navigate({ search: (old) => ({ ...old, transfer: undefined }) })}
        />
      )}
    </Page>
  )
}

const columns: readonly Column<Transfer>[] = [
  { name: 'Time (UTC)', cell: ({ atUtc }) => <Utc at={atUtc} /> },
  { name: 'Kind', cell: ({ kind }) => kind },
  { name: 'From', mono: true, cell: ({ fromLedger }) => fromLedger },
  { name: 'To', mono: true, cell: ({ toLedger }) => toLedger },
  { name: 'Project', cell: ({ projectName }) => projectName ?? '–' },
  {
    name: 'Request',
    mono: true,
    cell: ({ requestId }) =>
      requestId ? (
        <Link to="/log" search={{ requestId }}>
          {requestId.slice(0, 8)}
        </Link>
      ) : (
        '–'
      ),
  },
  { name: 'Amount', align: 'right', cell: ({ amountMicros }) => <Money micros={amountMicros} /> },
]
