import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useRef, useState, type FormEventHandler, type ReactNode } from 'react'
import { ApiError } from '../api/api-error.ts'
import type { ConsoleSession } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { passwordToggleProps } from './password-rules.ts'

type Props = {
  /** The name at first. */
  readonly name: string
  readonly onSignedIn: (session: ConsoleSession) => void
  /** Renders the form around the fields. */
  readonly children: (onSubmit: FormEventHandler<HTMLFormElement>, fields: ReactNode) => ReactNode
}

/** The fields that sign a user in: name, password and, where it is required, a code. */
export function SignInForm({ name, onSignedIn, children }: Props) {
  const signIn = useApiMutation({
    method: 'POST',
    path: '/sign-in',
    onSuccess: onSignedIn,
    onError: (error) => setIsCodeRequired(error instanceof ApiError && error.isCodeRequired),
  })
  const [isCodeRequired, setIsCodeRequired] = useState(false)
  const codeInput = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isCodeRequired) codeInput.current?.focus()
  }, [isCodeRequired])
  const form = useForm({ initialValues: { name, password: '', code: '' } })
  const submit = ({ code, ...credentials }: typeof form.values): void =>
    signIn.mutate({ body: { ...credentials, ...(isCodeRequired && code !== '' && { code }) } })
  return children(
    form.onSubmit(submit),
    <>
      <TextInput label="Name" autoComplete="username" required {...form.getInputProps('name')} />
      <PasswordInput
        label="Password"
        autoComplete="current-password"
        required
        data-autofocus={name === '' ? undefined : ''}
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
    </>,
  )
}
