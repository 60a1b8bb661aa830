import { allEventTypes } from '../../../src/store/webhooks/event-types.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/** Creates a webhook with an event, and returns the requests that change them. */
export async function webhookWrites({
  owner,
  projectId,
}: TestConsole): Promise<readonly (readonly [method: string, path: string, body: unknown])[]> {
  // Nothing is sent to a name that cannot exist.
  const settings = { projectId, url: 'https://webhook.invalid', events: allEventTypes }
  const { webhookId } = assertOk(await owner.send('POST', '/webhooks', settings)).body
  const path = `/webhooks/${webhookId}`
  const { eventId } = assertOk(await owner.send('POST', `${path}/test`)).body
  return [
    ['POST', '/webhooks', settings],
    ['POST', `${path}/test`, undefined],
    ['POST', `${path}/rotate-secret`, {}],
    ['POST', `${path}/deliveries/${eventId}/redeliver`, undefined],
    ['DELETE', path, undefined],
  ]
}
