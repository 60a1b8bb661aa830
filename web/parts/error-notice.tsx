import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { sentenceOf } from '../api/api-error.ts'

type Parts = { readonly error: unknown; readonly onRetry?: () => void }

/** What went wrong, in the server's words. Nothing when nothing did. */
export function ErrorNotice({ error, onRetry }: Parts) {
  if (!error) return null
  return (
    <Alert
      role="alert"
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title="That did not work"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{sentenceOf(error)}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
