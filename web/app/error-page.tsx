import { Button, Code, Stack, Text, Title } from '@mantine/core'

/** Replaces a page that failed to render. */
export function ErrorPage({ error }: { readonly error: unknown }) {
  return (
    <Stack p="xl" maw={640} role="alert">
      <Title order={1}>Page error</Title>
      <Text>
        The console could not show this page. Your data is not affected. Reload the page, for
        example after an update of the service.
      </Text>
      <Code block>{error instanceof Error ? error.message : String(error)}</Code>
      <Button w="fit-content" onClick={() => window.location.reload()}>
        Reload page
      </Button>
    </Stack>
  )
}
