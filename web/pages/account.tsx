import { Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import type { Session } from '../api/answers.ts'
import { keepSession, useSignedIn } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'

const passwordLengthMin = 12
const toggle = { 'aria-label': 'Show or hide the password' } as const

/** One's own password. */
export function AccountPage() {
  const { user } = useSignedIn()
  const client = useQueryClient()
  const change = useSend<Session>({
    method: 'POST',
    path: '/password',
    onDone: (session) => {
      keepSession(client, session)
      form.reset()
      notifications.show({ message: 'The password was changed; your other sessions have ended.' })
    },
  })
  const form = useForm({
    initialValues: { current: '', next: '' },
    validate: {
      next: (text) =>
        text.length < passwordLengthMin ? `At least ${passwordLengthMin} characters` : null,
    },
  })
  return (
    <Page title="Your account" lead={`Signed in as ${user.name}, ${user.role}.`}>
      <Panel title="Password">
        <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
          <Stack maw={360}>
            <PasswordInput
              label="Password now"
              autoComplete="current-password"
              required
              visibilityToggleButtonProps={toggle}
              {...form.getInputProps('current')}
            />
            <PasswordInput
              label="New password"
              autoComplete="new-password"
              required
              visibilityToggleButtonProps={toggle}
              {...form.getInputProps('next')}
            />
            <ErrorNotice error={change.error} />
            <Button type="submit" loading={change.isPending}>
              Change the password
            </Button>
          </Stack>
        </form>
      </Panel>
    </Page>
  )
}
