import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { errorMessageOf } from '../api/api-error.ts'

type Props = {
  /** The operation that failed, such as `Couldn't create key`. */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Shows an error with the message of the server. Renders nothing without an error. */
export function ErrorNotice({ title, error, onRetry }: Props) {
  if (!error) return null
  return (
    <Alert
      role="alert"
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title={title}
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
