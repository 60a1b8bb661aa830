import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { errorMessageOf } from '../api/api-error.ts'

type Props = { readonly error: unknown; readonly onRetry?: () => void }

/** What went wrong, in the server's words. Nothing when nothing did. */
export function ErrorNotice({ error, onRetry }: Props) {
  if (!error) return null
  return (
    <Alert
      role="alert"
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title="That did not work"
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{errorMessageOf(error)}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
