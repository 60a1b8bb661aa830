import { Group, Progress, Stack, Text } from '@mantine/core'
import type { ProjectBudget } from '../api/responses.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { MoneyAmount } from '../money/money-amount.tsx'

const warningShare = 0.8

/** The used share of the budget of each project. */
export function BudgetMeters({ budgets }: { readonly budgets: readonly ProjectBudget[] }) {
  if (budgets.length === 0)
    return (
      <EmptyState title="No budgets">
        Allocate funds to a project on the page Wallet and budgets.
      </EmptyState>
    )
  return (
    <Stack gap="md">
      {budgets.map((budget) => (
        <BudgetMeter key={budget.projectId} budget={budget} />
      ))}
    </Stack>
  )
}

function BudgetMeter({ budget }: { readonly budget: ProjectBudget }) {
  if (!budget.billing)
    return (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {budget.name}: billing is off, calls are not charged
      </Text>
    )
  const used = usedShare(budget)
  const color = used >= 1 ? 'var(--fg-bad)' : used >= warningShare ? 'var(--fg-warn)' : 'petrol.5'
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {budget.name}
        </Text>
        <Text size="sm" c="dimmed">
          <MoneyAmount micros={budget.balanceMicros} /> available
        </Text>
      </Group>
      <Progress.Root size="sm" mt={4}>
        <Progress.Section
          value={Math.min(100, used * 100)}
          color={color}
          aria-label={`Budget used by ${budget.name}`}
        />
      </Progress.Root>
    </div>
  )
}

/** Returns the used share of all allocated funds. */
function usedShare({ allocatedMicros, balanceMicros }: ProjectBudget): number {
  const allocated = Number(allocatedMicros)
  return allocated <= 0 ? 1 : 1 - Number(balanceMicros) / allocated
}
