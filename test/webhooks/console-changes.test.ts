import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addEvent } from '../../src/store/webhooks/events.ts'
import { pauseWebhook } from '../../src/store/webhooks/webhooks.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import {
  accept,
  respondWith,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks/webhook-receiver.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'

let testConsole: TestConsole
let receiver: WebhookReceiver
before(async () => {
  receiver = await startWebhookReceiver()
  testConsole = await startConsole({ environment: webhookSettings })
})
after(async () => {
  await testConsole?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
})

const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body
const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)

test('A webhook shows its last error and its pause, and a test event is sent before pending events', async () => {
  const { projectId } = testConsole
  const { store } = testConsole.gallery.database
  const settings = { projectId, url: `${receiver.url}/paused`, events: ['budget.low'] }
  const { webhookId } = assertOk(await send('POST', '/webhooks', settings)).body
  const readItem = async () => (await get('/webhooks')).items[0]
  assert.deepEqual(
    [(await readItem()).lastAttempt, (await readItem()).pausedUntilUtc],
    [null, null],
  )
  const pausedUntilMs = Date.now() + 3_600_000
  await store.write(async (tx) => {
    await pauseWebhook(tx, webhookId, { failures: 3, nowMs: Date.now(), pausedUntilMs })
    const event = { projectId, type: 'budget.low', data: {}, atMs: Date.now() } as const
    for (let index = 0; index < 70; index++) await addEvent(tx, event, { outboxMax: 100 })
  })
  const paused = await readItem()
  assert.equal(paused.pausedUntilUtc, new Date(pausedUntilMs).toISOString())
  assert.equal(paused.pending, 70)
  const path = `/webhooks/${webhookId}/deliveries`
  assert.equal((await get(`${path}?state=failed`)).items.length, 0)
  receiver.respond(respondWith(503))
  const { eventId } = assertOk(await send('POST', `/webhooks/${webhookId}/test`)).body
  const [request] = await receiver.waitFor((sent) => sent.path === '/paused')
  assert.equal(request?.headers['facegate-event-id'], eventId)
  while ((await readItem()).lastAttempt === null) await new Promise((done) => setTimeout(done, 20))
  const { status, error, attemptedAtUtc } = (await readItem()).lastAttempt
  assert.deepEqual([status, error], [503, 'status 503'])
  assert.ok(Date.parse(attemptedAtUtc) > 0)
  const { items } = await get(`${path}?type=webhook.test`)
  assert.deepEqual([items.length, items[0].eventId], [1, eventId])
  assert.deepEqual(await get(`${path}/${eventId}`), { payload: { webhookId } })
  assert.equal((await send('GET', `${path}/evt_none`)).status, 404)
  assert.equal((await send('GET', `${path}?type=unknown`)).status, 422)
  receiver.respond(accept)
  assertOk(await send('DELETE', `/webhooks/${webhookId}`))
})

test('An admin changes the events of a webhook, and its matches follow', async () => {
  const { projectId } = testConsole
  const settings = { projectId, url: `${receiver.url}/edited`, events: ['budget.low'] }
  const { webhookId } = assertOk(await send('POST', '/webhooks', settings)).body
  const path = `/webhooks/${webhookId}`
  const matchFilter = { groups: ['staff'] }
  const refused = await send('PATCH', path, { events: ['budget.low'], matchFilter })
  assert.deepEqual([refused.status, refused.text.includes('identify.matched')], [422, true])
  assert.equal((await send('PATCH', path, { events: [] })).status, 422)
  const received = { events: ['identify.matched', 'key.expiring'], matchFilter }
  const edited = assertOk(await send('PATCH', path, received)).body
  assert.deepEqual([edited.events, edited.matchFilter], [received.events, matchFilter])
  const [item] = (await get('/webhooks')).items
  assert.deepEqual(
    [new Set(item.events), item.matchFilter],
    [new Set(received.events), matchFilter],
  )
  const { db } = testConsole.gallery.database.store
  const countOf = async () =>
    (
      await db
        .selectFrom('projects')
        .select('matchWebhooks')
        .where('projectId', '=', projectId)
        .executeTakeFirstOrThrow()
    ).matchWebhooks
  assert.equal(await countOf(), 1)
  assertOk(await send('PATCH', path, { events: ['budget.low'] }))
  assert.equal(await countOf(), 0)
  const viewer = await testConsole.inviteMember('viewer')
  assert.equal((await viewer.send('PATCH', path, received)).status, 403)
  assertOk(await send('DELETE', path))
  assert.equal((await send('PATCH', path, received)).status, 404)
})
