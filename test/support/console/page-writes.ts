import { allEventTypes } from '../../../src/store/webhooks/event-types.ts'
import { calibrationWrites, type ConsoleWrite } from './calibration-writes.ts'
import { subjectWrites } from './subject-writes.ts'
import { imageParams } from '../gallery/test-gallery.ts'
import { assertOk, type TestConsole } from './test-console.ts'

/**
 * Returns the requests that delete a project, change the calibration of a gallery, a webhook, a key and
 * several subjects, start and end a command, an audited download, and the display of a picture.
 */
export async function pageWrites(testConsole: TestConsole): Promise<readonly ConsoleWrite[]> {
  const writes = [projectWrites, calibrationWrites, webhookWrites, keyWrites, subjectWrites]
  const changes = (await Array.fromAsync(writes, (create) => create(testConsole))).flat()
  return [
    ...changes,
    ['POST', '/models/command', { command: 'verify' }],
    ['DELETE', '/models/command', undefined],
    ['POST', '/system/support-bundle', undefined],
    ['POST', await picturePath(testConsole), undefined],
  ]
}

/** Creates a project, and returns the request that deletes it. */
async function projectWrites({ owner }: TestConsole): Promise<readonly ConsoleWrite[]> {
  const confirm = 'deleted later'
  const settings = { name: confirm, galleryMode: 'isolated' }
  const { projectId } = assertOk(await owner.send('POST', '/projects', settings)).body
  return [['DELETE', `/projects/${projectId}`, { confirm }]]
}

/** Sends a call that is a near miss, and returns the path of its picture. */
async function picturePath({ owner, gallery, projectId }: TestConsole): Promise<string> {
  const switches = { nearMissCrops: true }
  assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
  const enrolled = { ...imageParams('Nearly matched'), duplicateCheck: 'off' }
  const { subjectId } = await gallery.value('svc.enroll', enrolled)
  const params = { ...imageParams({ name: 'Nearly matched', deviation: 1.6 }), subjectId }
  const { similarity } = await gallery.value('svc.verify', { ...params, threshold: 0 })
  await gallery.value('svc.verify', { ...params, threshold: similarity + 0.03 })
  const [call] = assertOk(await owner.get('/log?nearMiss=true')).body.items
  return `/log/${call.callId}/picture`
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
    ['PATCH', path, { events: allEventTypes }],
    ['POST', `${path}/test`, undefined],
    ['POST', `${path}/rotate-secret`, {}],
    ['POST', `${path}/deliveries/${eventId}/redeliver`, undefined],
    ['DELETE', path, undefined],
  ]
}

/** Creates a key, and returns the requests that change it. */
async function keyWrites({ owner, projectId }: TestConsole): Promise<readonly ConsoleWrite[]> {
  const settings = { projectId, name: 'changed later', permissions: ['svc.detect'] }
  const { keyId } = assertOk(await owner.send('POST', '/keys', settings)).body
  return [
    ['PATCH', `/keys/${keyId}`, { name: 'changed' }],
    ['POST', `/keys/${keyId}/rotate`, { overlapHours: 24 }],
    ['POST', `/keys/${keyId}/end-overlap`, undefined],
  ]
}
