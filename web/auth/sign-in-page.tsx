import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import type { ConsoleSession } from '../api/responses.ts'
import { storeSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AuthForm } from './auth-form.tsx'

/** The door. */
export function SignInPage() {
  const client = useQueryClient()
  const signIn = useApiMutation<ConsoleSession>({
    method: 'POST',
    path: '/sign-in',
    onSuccess: (session) => storeSession(client, session),
  })
  const form = useForm({ initialValues: { name: '', password: '' } })
  return (
    <AuthForm
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
    </AuthForm>
  )
}
