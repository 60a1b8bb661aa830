import { Group, Stack, Text } from '@mantine/core'
import type { ProjectBudget } from '../api/responses.ts'
import { BudgetBar } from '../money/budget-bar.tsx'
import { byUsedShare } from '../money/budget-use.ts'
import { formatQuantity } from '../format/numbers.ts'
import { MoneyAmount } from '../money/money-amount.tsx'
import { LargestOf } from './largest-of.tsx'

const budgetsMax = 5

/** The used share of the budget of the projects whose budgets are used most. */
export function BudgetMeters({ budgets }: { readonly budgets: readonly ProjectBudget[] }) {
  const shown = byUsedShare(budgets).slice(0, budgetsMax)
  return (
    <Stack gap="md">
      {shown.map((budget) => (
        <div key={budget.projectId}>
          <Group justify="space-between" gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {budget.name}
            </Text>
            {budget.billing && (
              <Text size="sm" c="dimmed">
                <MoneyAmount micros={budget.balanceMicros} /> available
                {budget.daysLeft !== null && `, enough for ${formatDays(budget.daysLeft)}`}
              </Text>
            )}
          </Group>
          <BudgetBar budget={budget} />
        </div>
      ))}
      <LargestOf
        shown={shown.length}
        total={budgets.length}
        of="projects, by the used share of their budget"
        to="/money"
      />
    </Stack>
  )
}

function formatDays(days: number): string {
  return days === 0 ? 'less than a day' : formatQuantity(days, 'day')
}
