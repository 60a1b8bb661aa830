import { Button, Center, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { WriteResponses } from '../../api/responses.ts'
import { useApiMutation } from '../../api/use-api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { PasswordForm } from './password-form.tsx'
import { QrCode } from './qr-code.tsx'

type BegunSecondFactor = WriteResponses['POST']['/second-factor']

type Props = { readonly onEnabled: (recoveryCodes: readonly string[]) => void }

/** Shows the secret after the password, and requires a first code of the app. */
export function EnableForm({ onEnabled }: Props) {
  const [begun, setBegun] = useState<BegunSecondFactor>()
  if (begun) return <FirstCodeForm {...begun} onEnabled={onEnabled} />
  return (
    <PasswordForm
      path="/second-factor"
      note="You need an authenticator app on your phone, such as Aegis, Google Authenticator or 1Password."
      submitLabel="Continue"
      errorTitle="Couldn't create secret"
      onSuccess={setBegun}
    />
  )
}

function FirstCodeForm({ secret, uri, onEnabled }: BegunSecondFactor & Props) {
  const confirm = useApiMutation({
    method: 'POST',
    path: '/second-factor/confirm',
    onSuccess: ({ recoveryCodes }) => onEnabled(recoveryCodes),
  })
  const form = useForm({ initialValues: { code: '' } })
  return (
    <form onSubmit={form.onSubmit((body) => confirm.mutate({ body }))}>
      <Stack>
        <Text size="sm">Scan the code with your app, or type the secret.</Text>
        <Center>
          <QrCode text={uri} label="QR code of the secret" />
        </Center>
        <CodeBlock label="secret" text={secret} />
        <TextInput
          label="Code"
          description="The six digits that the app shows."
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          {...form.getInputProps('code')}
        />
        <ErrorNotice title="Couldn't enable second factor" error={confirm.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={confirm.isPending}>
            Enable
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
