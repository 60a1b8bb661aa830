import { Center, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect, type FormEventHandler, type ReactNode } from 'react'
import { BrandMark } from '../layout/brand.tsx'

type Props = {
  readonly title: string
  readonly note: string
  readonly onSubmit: FormEventHandler<HTMLFormElement>
  readonly children: ReactNode
}

/** The page layout of the sign-in and setup forms. */
export function AuthForm({ title, note, onSubmit, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Facegate`
  }, [title])
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper component="form" className="fg-panel" w="100%" maw={400} p="xl" onSubmit={onSubmit}>
        <Stack>
          <Group gap="sm">
            <BrandMark size={30} />
            <Title order={1}>{title}</Title>
          </Group>
          {children}
          <Text size="xs" c="dimmed">
            {note}
          </Text>
        </Stack>
      </Paper>
    </Center>
  )
}
