import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import type { ConsoleSession } from '../api/responses.ts'
import { storeSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AuthForm } from './auth-form.tsx'
import { passwordToggleProps } from './password-rules.ts'

/** Signs a user in with name and password. */
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
      note="Lost your password? Request a new link from the administrator (facegate console link)."
      onSubmit={form.onSubmit((body) => signIn.mutate({ body }))}
    >
      <TextInput label="Name" autoComplete="username" required {...form.getInputProps('name')} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={passwordToggleProps}
        {...form.getInputProps('password')}
      />
      <ErrorNotice title="Couldn't sign in" error={signIn.error} />
      <Button type="submit" loading={signIn.isPending}>
        Sign in
      </Button>
    </AuthForm>
  )
}
