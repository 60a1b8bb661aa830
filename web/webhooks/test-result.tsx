import { Alert } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useApiQuery } from '../api/use-api.ts'
import { ErrorNotice } from '../components/error-notice.tsx'

type Props = { readonly webhookId: string; readonly eventId: string }

/** The time until the delivery of a test event is read again. */
const pollMs = 500

/** Shows how the delivery of a test event ended. */
export function TestResult({ webhookId, eventId }: Props) {
  const find = (items: readonly TestDelivery[] = []): TestDelivery | undefined =>
    items.find((item) => item.eventId === eventId && (item.error !== null || item.status !== null))
  const query = useApiQuery('/webhooks/:webhookId/deliveries', {
    pathParams: { webhookId },
    query: { type: 'webhook.test', limit: 5 },
    pollMs: (data) => (find(data?.items) ? false : pollMs),
  })
  const delivery = find(query.data?.items)
  const client = useQueryClient()
  const isAttempted = delivery !== undefined
  useEffect(() => {
    // The webhook and its deliveries show the attempt.
    if (isAttempted)
      void client.invalidateQueries({
        predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/webhooks'),
      })
  }, [client, isAttempted])
  if (query.error) return <ErrorNotice title="Couldn't read the result" error={query.error} />
  const { color, title, text } = describe(delivery)
  return (
    <output>
      <Alert color={color} title={title}>
        {text}
      </Alert>
    </output>
  )
}

type TestDelivery = {
  readonly eventId: string
  readonly status: number | null
  readonly error: string | null
}

function describe(delivery: TestDelivery | undefined) {
  if (!delivery) return { color: 'gray', title: 'Test event sent', text: 'Waiting for a response…' }
  const { error, status } = delivery
  return error === null
    ? { color: 'green', title: 'Test event delivered', text: `The receiver returned ${status}.` }
    : { color: 'red', title: 'Test event not delivered', text: `${error}.` }
}
