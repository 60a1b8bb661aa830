import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { addCameraNotices } from '../../../src/webhooks/key-notices.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type TestConsole,
} from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { deliveriesOf, webhookSettings } from '../../support/webhooks/webhook-settings.ts'

const dayMs = 86_400_000
const callsPerWeek = 90

let nowMs = Date.now()
let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({ clock: () => nowMs, environment: webhookSettings })
})
after(() => testConsole?.[Symbol.asyncDispose]())

/** A webhook of the project that receives the changes of cameras. */
let webhookId: string

/** Makes the calls of a week: every `blankEvery`th picture contains no face. */
async function callFor(quality: number, blankEvery: number): Promise<void> {
  const { call } = testConsole.gallery
  for (let index = 1; index <= callsPerWeek; index++)
    await call(
      'svc.identify',
      index % blankEvery === 0 ? imageParams() : imageParams({ name: 'Ada', quality, take: index }),
    )
}

/** Moves the clock. The session of the owner ends. */
async function waitDays(days: number): Promise<void> {
  nowMs += days * dayMs
  const credentials = { name: 'Olga', password: validPassword }
  assertOk(await testConsole.owner.send('POST', '/sign-in', credentials))
}

const compare = () => {
  const { store } = testConsole.gallery.database
  return runAsAllAccounts(() => addCameraNotices({ store, nowMs, outboxMax: 100 }))
}

const readCameras = async (query = '') =>
  assertOk(await testConsole.owner.get(`/analytics/cameras${query}`)).body

const cameraAlerts = async () => {
  const { body } = assertOk(await testConsole.owner.get('/overview'))
  return body.alerts.filter(({ kind }: { readonly kind: string }) => kind === 'cameraChanged')
}

type EventData = { readonly changes: readonly { readonly text: string }[] }

/** Returns the sentences of each event, the first event first. */
async function sentChanges(): Promise<readonly (readonly string[])[]> {
  const deliveries = await deliveriesOf(testConsole.gallery.database.store, webhookId)
  return deliveries
    .toReversed()
    .map(({ data }) => (JSON.parse(data) as EventData).changes.map(({ text }) => text))
}

test('A camera that became worse has an alert and one event, and its weeks are shown', async () => {
  const { gallery, projectId } = testConsole
  const { store } = gallery.database
  const webhook = { projectId, url: 'http://127.0.0.1:9/a', events: ['camera.changed'] as const }
  const created = await store.write((tx) => gallery.webhooks.create(tx, webhook, nowMs))
  assert.ok(created)
  webhookId = created.webhookId
  await gallery.value('svc.enroll', imageParams('Ada'))
  await callFor(90, callsPerWeek)
  await compare()
  assert.deepEqual(await cameraAlerts(), [], 'there is no week to compare with')
  await waitDays(14)
  await callFor(60, 3)
  await compare()
  await compare()

  const [alert, ...others] = await cameraAlerts()
  assert.deepEqual(others, [])
  assert.match(alert?.text ?? '', /Calls without a face rose from 1 % to 33 %/u)
  assert.deepEqual(await sentChanges(), [
    ['Calls without a face rose from 1 % to 33 %', 'Quality of the faces fell from 90 to 60'],
  ])

  const { weeks, keys, measures } = await readCameras()
  assert.equal(weeks.length, 8)
  assert.deepEqual(measures[0], {
    measure: 'withoutFace',
    name: 'Calls without a face',
    kind: 'share',
  })
  assert.equal(keys.length, 1)
  const [key] = keys
  assert.deepEqual(key?.calls.slice(-3), [callsPerWeek, 0, callsPerWeek])
  assert.deepEqual(key?.values.quality.slice(-3), [90, null, 60])
  assert.deepEqual(key?.values.withoutFace.slice(-3), [1 / callsPerWeek, null, 1 / 3])
  assert.deepEqual(
    key?.changes.map(({ measure }: { readonly measure: string }) => measure),
    ['withoutFace', 'quality'],
  )
  assert.deepEqual((await readCameras(`?keyId=${key?.keyId}`)).keys, keys)
})

test('A change is reported again after a week at the earliest, and its alert ends before', async () => {
  await waitDays(6)
  await callFor(60, 3)
  await compare()
  assert.equal((await sentChanges()).length, 1)
  await waitDays(1)
  assert.deepEqual(await cameraAlerts(), [])
  await compare()
  assert.deepEqual((await sentChanges())[1], ['Quality of the faces fell from 78 to 60'])
  assert.equal((await cameraAlerts()).length, 1)
})

test('The weeks of another account are not shown', async () => {
  const other = await testConsole.gallery.createProjectClient({ galleryMode: 'isolated' })
  assert.ok(other)
  const unknown = '/analytics/cameras?projectId=00000000-0000-4000-8000-000000000000'
  assert.deepEqual(assertOk(await testConsole.owner.get(unknown)).body.keys, [])
})
