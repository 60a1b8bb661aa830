import { Box, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type Props = {
  readonly title: string
  /** Describes the future content and how to create it. */
  readonly children: ReactNode
  readonly action?: ReactNode
}

/** Replaces an empty list. */
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
