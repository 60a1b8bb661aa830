import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Money as MoneyFacts } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Money } from '../parts/money.tsx'
import { Allocate } from './allocate.tsx'

type Budget = MoneyFacts['projects'][number]

/** What each project was given, has spent, holds back for running calls, and has left. */
export function BudgetTable({ projects }: { readonly projects: readonly Budget[] }) {
  const mayWrite = useMay('admin')
  const [chosen, setChosen] = useState<Budget>()
  return (
    <>
      <DataTable
        caption="Budgets"
        rows={projects}
        keyOf={({ projectId }) => projectId}
        columns={mayWrite ? [...columns, allocateColumn(setChosen)] : columns}
        empty={<Empty title="No projects">Each project has a budget of its own.</Empty>}
      />
      {chosen && <Allocate budget={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

const columns: readonly Column<Budget>[] = [
  { name: 'Project', cell: ({ name }) => name },
  { name: 'Allocated', align: 'right', cell: (row) => <Money micros={row.allocatedMicros} /> },
  { name: 'Spent', align: 'right', cell: (row) => <Money micros={row.spentMicros} /> },
  { name: 'Reserved', align: 'right', cell: (row) => <Money micros={row.reservedMicros} /> },
  { name: 'Left', align: 'right', cell: (row) => <Money micros={row.balanceMicros} /> },
]

function allocateColumn(onChoose: (budget: Budget) => void): Column<Budget> {
  return {
    name: 'Actions',
    cell: (budget) => (
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
