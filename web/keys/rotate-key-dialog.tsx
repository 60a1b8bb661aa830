import { Alert, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleKey, WriteResponses } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { UtcTime } from '../components/utc-time.tsx'

type Props = { readonly apiKey: ConsoleKey; readonly onClose: () => void }
type RotatedKey = WriteResponses['POST']['/keys/:keyId/rotate']

const overlaps = [
  { hours: 0, label: 'None: it is rejected at once', description: 'For a secret that has leaked.' },
  { hours: 1, label: '1 hour' },
  { hours: 24, label: '24 hours' },
  { hours: 168, label: '7 days', description: 'For programs that are updated by hand.' },
] as const

/** Creates a new secret and shows it once. The former one stays valid for the chosen time. */
export function RotateKeyDialog({ apiKey, onClose }: Props) {
  const [rotated, setRotated] = useState<RotatedKey>()
  return (
    <Modal
      opened
      // The secret cannot be shown again, so only the Done button closes the dialog.
      onClose={rotated ? () => {} : onClose}
      withCloseButton={!rotated}
      title={rotated ? 'New secret of the key' : 'Rotate API key'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {rotated ? (
        <Stack>
          <OverlapEnd rotated={rotated} />
          <OneTimeSecret secret={rotated.key} label="API key" onDone={onClose} />
        </Stack>
      ) : (
        <RotateForm apiKey={apiKey} onRotated={setRotated} onClose={onClose} />
      )}
    </Modal>
  )
}

function OverlapEnd({ rotated: { formerSecret } }: { readonly rotated: RotatedKey }) {
  if (!formerSecret?.isValid)
    return <Text size="sm">The former secret …{formerSecret?.last4} is no longer valid.</Text>
  return (
    <Text size="sm">
      The former secret …{formerSecret.last4} is valid until{' '}
      <UtcTime timestampUtc={formerSecret.endsAtUtc} /> UTC. The details of the key show when it was
      last used.
    </Text>
  )
}

type RotateFormProps = Props & { readonly onRotated: (rotated: RotatedKey) => void }

function RotateForm({ apiKey, onRotated, onClose }: RotateFormProps) {
  const { keyId, name, last4, formerSecret } = apiKey
  const [hours, setHours] = useState('24')
  const rotate = useApiMutation({
    method: 'POST',
    path: '/keys/:keyId/rotate',
    onSuccess: onRotated,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        rotate.mutate({ pathParams: { keyId }, body: { overlapHours: Number(hours) } })
      }}
    >
      <Stack>
        <Text size="sm">
          {name} gets a new secret. It keeps its permissions, expiry, limits and usage history.
        </Text>
        <Radio.Group
          label={`How long the current secret …${last4} stays valid`}
          value={hours}
          onChange={setHours}
        >
          <Stack gap="xs" mt="xs">
            {overlaps.map(({ hours: value, ...texts }) => (
              <Radio key={value} value={String(value)} {...texts} />
            ))}
          </Stack>
        </Radio.Group>
        {formerSecret?.isValid && (
          <Alert variant="default" title={`The secret …${formerSecret.last4} ends now`}>
            A key has at most two valid secrets. The one before the last rotation would be valid
            until <UtcTime timestampUtc={formerSecret.endsAtUtc} /> UTC.
          </Alert>
        )}
        <ErrorNotice title="Couldn't rotate key" error={rotate.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            Rotate key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
