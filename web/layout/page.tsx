import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'
import { AllProjectsNote } from '../projects/all-projects-note.tsx'

type Props = {
  readonly title: string
  /** The purpose of the page in one or two sentences. */
  readonly description?: ReactNode
  /** Buttons beside the title. On phones the primary one is at the bottom of the screen. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

/** A page with heading, description and content. It also sets the title of the browser tab. */
export function Page({ title, description, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Facegate`
  }, [title])
  return (
    <Stack gap="lg" maw={1360}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box maw={760} miw={0}>
          <Title order={1}>{title}</Title>
          {description && (
            <Text c="dimmed" mt={4}>
              {description}
            </Text>
          )}
          <AllProjectsNote />
        </Box>
        {actions && (
          <Group gap="xs" className="fg-actions">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Stack>
  )
}
