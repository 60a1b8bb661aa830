import { Button } from '@mantine/core'
import { useState } from 'react'
import type { MoneySummary as MoneyFacts } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { AllocateDialog } from './allocate-dialog.tsx'

type BudgetRow = MoneyFacts['projects'][number]

/** What each project was given, has spent, holds back for running calls, and has left. */
export function BudgetTable({ projects }: { readonly projects: readonly BudgetRow[] }) {
  const mayWrite = useHasRole('admin')
  const [chosen, setChosen] = useState<BudgetRow>()
  return (
    <>
      <DataTable
        caption="Budgets"
        rows={projects}
        rowKey={({ projectId }) => projectId}
        columns={mayWrite ? [...columns, allocateColumn(setChosen)] : columns}
        empty={<EmptyState title="No projects">Each project has a budget of its own.</EmptyState>}
      />
      {chosen && <AllocateDialog budget={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

const columns: readonly Column<BudgetRow>[] = [
  { name: 'Project', renderCell: ({ name }) => name },
  {
    name: 'Allocated',
    align: 'right',
    renderCell: (row) => <MoneyAmount micros={row.allocatedMicros} />,
  },
  { name: 'Spent', align: 'right', renderCell: (row) => <MoneyAmount micros={row.spentMicros} /> },
  {
    name: 'Reserved',
    align: 'right',
    renderCell: (row) => <MoneyAmount micros={row.reservedMicros} />,
  },
  { name: 'Left', align: 'right', renderCell: (row) => <MoneyAmount micros={row.balanceMicros} /> },
]

function allocateColumn(onChoose: (budget: BudgetRow) => void): Column<BudgetRow> {
  return {
    name: 'Actions',
    renderCell: (budget) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Allocate to ${budget.name}`}
        onClick={() => onChoose(budget)}
      >
        Allocate
      </Button>
    ),
  }
}
