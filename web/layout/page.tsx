import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'

type Props = {
  readonly title: string
  /** One sentence that says what the page is for. */
  readonly description?: ReactNode
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

/** A page: its heading, its purpose, its content. It also names the tab. */
export function Page({ title, description: lead, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Facegate`
  }, [title])
  return (
    <Stack gap="lg" maw={1360}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={760} miw={0}>
          <Title order={1}>{title}</Title>
          {lead && (
            <Text c="dimmed" mt={4}>
              {lead}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
