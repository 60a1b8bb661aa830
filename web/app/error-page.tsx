import { Button, Code, Stack, Text, Title } from '@mantine/core'

/** What stands in for a page that failed to draw: a bug of ours, told plainly. */
export function ErrorPage({ error }: { readonly error: unknown }) {
  return (
    <Stack p="xl" maw={640} role="alert">
      <Title order={1}>This page failed</Title>
      <Text>
        That is a fault of the console; your data is not affected. If the service was updated
        meanwhile, loading the page again helps.
      </Text>
      <Code block>{error instanceof Error ? error.message : String(error)}</Code>
      <Button w="fit-content" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Stack>
  )
}
