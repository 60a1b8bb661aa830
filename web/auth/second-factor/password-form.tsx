import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { WriteResponses } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { passwordToggleProps } from '../password-rules.ts'

type Paths = WriteResponses['POST']

type Props<Path extends keyof Paths> = {
  readonly path: Path
  readonly note: string
  readonly submitLabel: string
  readonly errorTitle: string
  readonly onSuccess: (data: Paths[Path]) => void
}

/** Sends the user's password to a route that changes the second factor. */
export function PasswordForm<Path extends keyof Paths>(props: Props<Path>) {
  const { path, onSuccess } = props
  const send = useApiMutation({ method: 'POST', path, onSuccess })
  const form = useForm({ initialValues: { password: '' } })
  return (
    <form onSubmit={form.onSubmit((body) => send.mutate({ body }))}>
      <Stack>
        <Text size="sm">{props.note}</Text>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          data-autofocus
          visibilityToggleButtonProps={passwordToggleProps}
          {...form.getInputProps('password')}
        />
        <ErrorNotice title={props.errorTitle} error={send.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={send.isPending}>
            {props.submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
