import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ConsoleWebhook } from '../api/responses.ts'
import { useApiMutation } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

type Props = { readonly webhook: ConsoleWebhook; readonly onClose: () => void }

/** Creates a new signing secret and shows it once. */
export function RotateSecretDialog({ webhook, onClose }: Props) {
  const [secret, setSecret] = useState<string>()
  const rotate = useApiMutation({
    method: 'POST',
    path: '/webhooks/:webhookId/rotate-secret',
    onSuccess: (response) => setSecret(response.secret),
  })
  const { webhookId } = webhook
  return (
    <Modal
      opened
      onClose={secret ? () => {} : onClose}
      withCloseButton={!secret}
      title={secret ? 'New signing secret' : 'Rotate signing secret'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {secret ? (
        <WebhookSecret secret={secret} onDone={onClose} />
      ) : (
        <Stack>
          <Text size="sm">
            For the next 24 hours, events are signed with the new secret and with the earlier ones.
          </Text>
          <ErrorNotice title="Couldn't rotate secret" error={rotate.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              loading={rotate.isPending}
              onClick={() => rotate.mutate({ pathParams: { webhookId }, body: {} })}
            >
              Rotate secret
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
