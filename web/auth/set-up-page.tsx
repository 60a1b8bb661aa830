import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ConsoleSession } from '../api/responses.ts'
import { storeSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AuthForm } from './auth-form.tsx'

/** The server holds the same bound; it is told here so that nobody has to try. */
const passwordLengthMin = 12

/** Takes a one-time link: sets the name and password of the owner, or of who was invited. */
export function SetUpPage({ token }: { readonly token: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  // A link for somebody in particular says for whom.
  const { name: invited } = useSearch({ strict: false })
  const setUp = useApiMutation<ConsoleSession>({
    method: 'POST',
    path: '/setup',
    onSuccess: (session) => {
      storeSession(client, session)
      void navigate({ to: '/', replace: true })
    },
  })
  const form = useForm({
    initialValues: { token, name: invited ?? '', password: '', again: '' },
    validate: {
      password: (text) =>
        text.length < passwordLengthMin ? `At least ${passwordLengthMin} characters` : null,
      again: (text, { password }) => (text === password ? null : 'The two are not the same'),
    },
  })
  return (
    <AuthForm
      title="Welcome to Facegate"
      note="The link works once and for 24 hours. A new one comes from: facegate console link."
      onSubmit={form.onSubmit(({ again: _same, ...body }) => setUp.mutate({ body }))}
    >
      {token === '' && (
        <TextInput
          label="Set-up code"
          description="What stands behind # in the link that the service printed when it started."
          required
          {...form.getInputProps('token')}
        />
      )}
      <TextInput
        label="Your name"
        autoComplete="username"
        required
        readOnly={invited !== undefined}
        {...form.getInputProps('name')}
      />
      <NewPassword label="Password" {...form.getInputProps('password')} />
      <NewPassword label="Password again" {...form.getInputProps('again')} />
      <ErrorNotice error={setUp.error} />
      <Button type="submit" loading={setUp.isPending}>
        Set the password
      </Button>
    </AuthForm>
  )
}

function NewPassword(props: { readonly label: string }) {
  return (
    <PasswordInput
      autoComplete="new-password"
      required
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
      {...props}
    />
  )
}
