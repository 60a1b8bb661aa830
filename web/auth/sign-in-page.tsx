import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/api-error.ts'
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
    onError: (error) => setIsCodeRequired(error instanceof ApiError && error.isCodeRequired),
  })
  const [isCodeRequired, setIsCodeRequired] = useState(false)
  const codeInput = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isCodeRequired) codeInput.current?.focus()
  }, [isCodeRequired])
  const form = useForm({ initialValues: { name: '', password: '', code: '' } })
  const submit = ({ code, ...credentials }: typeof form.values): void =>
    signIn.mutate({ body: { ...credentials, ...(isCodeRequired && code !== '' && { code }) } })
  return (
    <AuthForm
      title="Sign in"
      note="Lost your password? Request a new link from the administrator (facegate console link)."
      onSubmit={form.onSubmit(submit)}
    >
      <TextInput label="Name" autoComplete="username" required {...form.getInputProps('name')} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={passwordToggleProps}
        {...form.getInputProps('password')}
      />
      {isCodeRequired && (
        <TextInput
          label="Code"
          description="The code of your authenticator app, or a recovery code."
          autoComplete="one-time-code"
          ref={codeInput}
          required
          {...form.getInputProps('code')}
        />
      )}
      {!(isCodeRequired && form.values.code === '') && (
        <ErrorNotice title="Couldn't sign in" error={signIn.error} />
      )}
      <Button type="submit" loading={signIn.isPending}>
        Sign in
      </Button>
    </AuthForm>
  )
}
