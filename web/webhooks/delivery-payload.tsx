import { Modal } from '@mantine/core'
import type { ConsoleDelivery } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { ErrorNotice } from '../components/error-notice.tsx'

type Props = {
  readonly webhookId: string
  readonly delivery: ConsoleDelivery
  readonly onClose: () => void
}

/** Shows the data that an event sends. */
export function DeliveryPayload({ webhookId, delivery, onClose }: Props) {
  const { eventId } = delivery
  const query = useApiQuery('/webhooks/:webhookId/deliveries/:eventId', {
    pathParams: { webhookId, eventId },
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={delivery.type}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {query.error && (
        <ErrorNotice title="The data of the event could not be loaded" error={query.error} />
      )}
      {query.data && (
        <CodeBlock
          label={`data of ${eventId}`}
          text={JSON.stringify(query.data.payload, undefined, 2)}
        />
      )}
    </Modal>
  )
}
