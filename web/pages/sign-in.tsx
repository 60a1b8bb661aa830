import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import type { Session } from '../api/answers.ts'
import { keepSession } from '../api/session.ts'
import { useSend } from '../api/use-api.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Threshold } from '../shell/threshold.tsx'

/** The door. */
export function SignInPage() {
  const client = useQueryClient()
  const signIn = useSend<Session>({
    method: 'POST',
    path: '/sign-in',
    onDone: (session) => keepSession(client, session),
  })
  const form = useForm({ initialValues: { name: '', password: '' } })
  return (
    <Threshold
      title="Sign in"
      note="Lost your password? Whoever runs the server makes a new link: facegate console link."
      onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}
    >
      <TextInput label="Name" autoComplete="username" required {...form.getInputProps('name')} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
        {...form.getInputProps('password')}
      />
      <ErrorNotice error={signIn.error} />
      <Button type="submit" loading={signIn.isPending}>
        Sign in
      </Button>
    </Threshold>
  )
}
