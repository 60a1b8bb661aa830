import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { storeSession } from '../api/session.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Panel } from '../layout/panel.tsx'
import { passwordLengthError, passwordToggleProps } from './password-rules.ts'

const fieldNames = { current: 'current', next: 'next' }

/** Changes the password of the signed-in user. */
export function PasswordPanel() {
  const client = useQueryClient()
  const change = useApiMutation({
    method: 'POST',
    path: '/password',
    onSuccess: (session) => {
      storeSession(client, session)
      form.reset()
      notifications.show({ message: 'Password changed. Your other sessions have ended.' })
    },
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm({
    initialValues: { current: '', next: '' },
    validate: { next: passwordLengthError },
  })
  return (
    <Panel title="Password">
      <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
        <Stack maw={360}>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            visibilityToggleButtonProps={passwordToggleProps}
            {...form.getInputProps('current')}
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            visibilityToggleButtonProps={passwordToggleProps}
            {...form.getInputProps('next')}
          />
          <ErrorNotice
            title="Couldn't change password"
            error={errorWithoutFields(change.error, fieldNames)}
          />
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Stack>
      </form>
    </Panel>
  )
}
