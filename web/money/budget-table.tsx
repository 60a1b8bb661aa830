import { Button } from '@mantine/core'
import { useState } from 'react'
import type { MoneySummary } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { MoneyAmount } from './money-amount.tsx'
import { AllocateDialog } from './allocate-dialog.tsx'

type BudgetRow = MoneySummary['projects'][number]

/** The allocated, spent, reserved and available funds of each project. */
export function BudgetTable({ projects }: { readonly projects: readonly BudgetRow[] }) {
  const mayWrite = useHasRole('admin')
  const [selected, setSelected] = useState<BudgetRow>()
  return (
    <>
      <DataTable
        caption="Budgets"
        rows={projects}
        rowKey={({ projectId }) => projectId}
        columns={mayWrite ? [...columns, allocateColumn(setSelected)] : columns}
        empty={<EmptyState title="No projects">Each project has a separate budget.</EmptyState>}
      />
      {selected && <AllocateDialog budget={selected} onClose={() => setSelected(undefined)} />}
    </>
  )
}

const columns: readonly Column<BudgetRow>[] = [
  { name: 'Project', renderCell: ({ name }) => name },
  { name: 'Used', renderCell: (row) => <BudgetBar budget={row} /> },
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
  {
    name: 'Available',
    align: 'right',
    renderCell: (row) => <MoneyAmount micros={row.balanceMicros} />,
  },
]

function allocateColumn(onSelect: (budget: BudgetRow) => void): Column<BudgetRow> {
  return {
    name: 'Actions',
    renderCell: (budget) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Allocate to ${budget.name}`}
        onClick={() => onSelect(budget)}
      >
        Allocate
      </Button>
    ),
  }
}
