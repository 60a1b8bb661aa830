import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { explainError } from '../api/api-error.ts'
import { CopyableText } from './copy-button.tsx'

type Props = {
  /** The operation that failed, such as `Couldn't create key`. */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Shows an error in words: what failed, which values to correct and what to do. */
export function ErrorNotice({ title, error, onRetry }: Props) {
  if (!error) return null
  const { message, problems, reference } = explainError(error)
  return (
    <Alert
      role="alert"
      variant="default"
      icon={<IconAlertTriangle size={18} color="var(--fg-bad)" aria-hidden />}
      title={title}
    >
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        {problems.length > 0 && (
          <List size="sm">
            {problems.map(({ label, message: problem }) => (
              <List.Item key={`${label} ${problem}`}>
                {label}: {problem}
              </List.Item>
            ))}
          </List>
        )}
        {reference !== undefined && (
          <Group gap="xs">
            <Text size="sm">Reference:</Text>
            <CopyableText label="reference" text={reference} />
          </Group>
        )}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
