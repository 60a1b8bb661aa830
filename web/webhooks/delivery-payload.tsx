import { Modal } from '@mantine/core'
import type { ConsoleDelivery } from '../api/responses.ts'
import { CodeBlock } from '../components/code-block.tsx'

type Props = { readonly delivery: ConsoleDelivery; readonly onClose: () => void }

/** Shows the data that an event sends. */
export function DeliveryPayload({ delivery, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={delivery.type}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <CodeBlock
        label={`data of ${delivery.eventId}`}
        text={JSON.stringify(delivery.payload, undefined, 2)}
      />
    </Modal>
  )
}
