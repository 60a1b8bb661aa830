import { Box, Progress, Text } from '@mantine/core'
import type { ProjectBudget } from '../api/responses.ts'
import { formatPercentage } from '../format/numbers.ts'
import { budgetUse } from './budget-use.ts'
import { MoneyAmount } from './money-amount.tsx'

type Props = {
  readonly budget: Pick<ProjectBudget, 'name' | 'allocatedMicros' | 'balanceMicros' | 'billing'>
}

const warningShare = 0.8

/** The used share of the allocated funds of a project: the bar shows the share that its text states. */
export function BudgetBar({ budget }: Props) {
  if (!budget.billing)
    return (
      <Text size="xs" c="dimmed">
        Billing is off: calls are not charged.
      </Text>
    )
  const { usedMicros, share } = budgetUse(budget)
  if (share === null)
    return (
      <Text size="xs" c="dimmed">
        No funds are allocated.
      </Text>
    )
  const color = share >= 1 ? 'var(--fg-bad)' : share >= warningShare ? 'var(--fg-warn)' : 'petrol.5'
  return (
    <Box miw={160}>
      <Progress.Root size="sm" my={4}>
        <Progress.Section
          value={Math.min(1, share) * 100}
          color={color}
          // The default value text is the share with all its decimals.
          withAria={false}
          // The bar of Mantine is not a progress element.
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
          role="progressbar"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.min(100, Math.round(share * 100))}
          aria-label={`Budget used by ${budget.name}`}
          aria-valuetext={formatPercentage(share)}
        />
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {formatPercentage(share)} used: <MoneyAmount micros={usedMicros} /> of{' '}
        <MoneyAmount micros={budget.allocatedMicros} />
      </Text>
    </Box>
  )
}
