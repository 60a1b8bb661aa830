import { Box, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  readonly title: string
  /** What would stand here and how to get there. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** An empty place that teaches. */
export function EmptyState({ title, children, action }: Props) {
  return (
    <Stack align="center" gap={6} py="xl" px="md" ta="center">
      <Text fw={600}>{title}</Text>
      <Text c="dimmed" size="sm" maw={520} component="div">
        {children}
      </Text>
      {action && <Box mt="xs">{action}</Box>}
    </Stack>
  )
}
