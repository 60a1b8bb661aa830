import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { storeSession } from '../api/session.ts'
import { errorWithoutFields, showFieldErrors } from '../api/field-errors.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { AuthForm } from './auth-form.tsx'
import { passwordLengthError, passwordToggleProps } from './password-rules.ts'

const fieldNames = { name: 'name', password: 'password' }

/** Uses a one-time link: sets the name and password of the first owner or of an invited user. */
export function SetUpPage({ token }: { readonly token: string }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  // An invite link contains the name of the invited user.
  const { name: invitedName } = useSearch({ strict: false })
  const setUp = useApiMutation({
    method: 'POST',
    path: '/setup',
    onSuccess: (session) => {
      storeSession(client, session)
      void navigate({ to: '/', replace: true })
    },
    onError: (error) => showFieldErrors(form, error, fieldNames),
  })
  const form = useForm({
    initialValues: { token, name: invitedName ?? '', password: '', confirmation: '' },
    validate: {
      password: passwordLengthError,
      confirmation: (text, { password }) => (text === password ? null : 'Passwords do not match'),
    },
  })
  return (
    <AuthForm
      title={invitedName === undefined ? 'Welcome to Facegate' : `Welcome, ${invitedName}`}
      note={
        invitedName === undefined
          ? 'Links expire after one use or 24 hours. New link: facegate console link'
          : 'This link sets your password for the Facegate console. It works once, within 24 hours. If it has expired, request a new one from the owner who sent it.'
      }
      onSubmit={form.onSubmit(({ confirmation: _confirmation, ...body }) => setUp.mutate({ body }))}
    >
      {token === '' && (
        <TextInput
          label="Setup code"
          description="The part after # in the link that the service printed at startup."
          required
          {...form.getInputProps('token')}
        />
      )}
      <TextInput
        label="Your name"
        autoComplete="username"
        required
        readOnly={invitedName !== undefined}
        {...form.getInputProps('name')}
      />
      <NewPassword label="Password" {...form.getInputProps('password')} />
      <NewPassword label="Confirm password" {...form.getInputProps('confirmation')} />
      <ErrorNotice
        title="Couldn't set password"
        error={errorWithoutFields(setUp.error, fieldNames)}
      />
      <Button type="submit" loading={setUp.isPending}>
        Set password
      </Button>
    </AuthForm>
  )
}

function NewPassword(props: { readonly label: string }) {
  return (
    <PasswordInput
      autoComplete="new-password"
      required
      visibilityToggleButtonProps={passwordToggleProps}
      {...props}
    />
  )
}
