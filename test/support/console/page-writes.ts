import { allEventTypes } from '../../../src/store/webhooks/event-types.ts'
import { calibrationWrites, type ConsoleWrite } from './calibration-writes.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/** Returns the requests that change the calibration of a gallery and a webhook, and an audited download. */
export async function pageWrites(testConsole: TestConsole): Promise<readonly ConsoleWrite[]> {
  return [
    ...(await calibrationWrites(testConsole)),
    ...(await webhookWrites(testConsole)),
    ['POST', '/system/support-bundle', undefined],
  ]
}

/** Creates a webhook with an event, and returns the requests that change them. */
async function webhookWrites({ owner, projectId }: TestConsole): Promise<readonly ConsoleWrite[]> {
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
