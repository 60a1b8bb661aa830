import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openKeyring } from '../../src/gallery/keys/keyring.ts'
import { findProject } from '../../src/store/tenancy/projects.ts'
import type { WebhookDelivery } from '../../src/store/webhooks/deliveries.ts'
import { allEventTypes } from '../../src/store/webhooks/event-types.ts'
import { findWebhooks, webhooksPerProjectMax } from '../../src/store/webhooks/webhooks.ts'
import { attemptsMax } from '../../src/webhooks/retry-schedule.ts'
import { createWebhooks } from '../../src/webhooks/webhooks.ts'
import { allAccountsStore } from '../support/database/all-accounts-store.ts'
import { dropDatabase, isOnPostgres, openTestStore } from '../support/database/engine.ts'
import { killGalleryProcess, startGalleryProcess } from '../support/gallery/gallery-process.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { deliveriesOf, webhookSettings } from '../support/webhooks/webhook-settings.ts'
import {
  accept,
  eventOf,
  respondWith,
  startWebhookReceiver,
  type ReceivedRequest,
  type WebhookReceiver,
} from '../support/webhooks/webhook-receiver.ts'

let nowMs = Date.now()
let gallery: TestGallery
let receiver: WebhookReceiver
before(async () => {
  receiver = await startWebhookReceiver()
  const environment = { ...webhookSettings, WEBHOOK_TIMEOUT_MS: '60000' }
  gallery = await startGallery({ clock: () => nowMs, environment })
})
after(async () => {
  await gallery?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
})

let projectId = ''

async function createWebhook(name: string, service = gallery) {
  const { store } = service.database
  projectId = (await service.createProjectClient({ galleryMode: 'isolated' })).project.projectId
  const webhook = { projectId, url: `${receiver.url}/${name}`, events: allEventTypes }
  const created = await store.write((tx) => service.webhooks.create(tx, webhook, nowMs))
  assert.ok(created)
  return created
}

const sendTest = (webhookId: string, { database, webhooks } = gallery): Promise<string> =>
  database.store.write((tx) => webhooks.sendTest(tx, { webhookId, projectId }, nowMs))

const isFor =
  (name: string) =>
  ({ path: target }: ReceivedRequest): boolean =>
    target === `/${name}`

/** Waits until the newest delivery of a webhook satisfies a condition, and returns it. */
async function waitForDelivery(
  webhookId: string,
  isReached: (delivery: WebhookDelivery) => boolean,
  service = gallery,
) {
  for (;;) {
    const [delivery] = await deliveriesOf(service.database.store, webhookId)
    if (delivery && isReached(delivery)) return delivery
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('A delivery is signed with the secret, and with both secrets while the new one overlaps', async () => {
  const { webhookId, secret } = await createWebhook('signed')
  const { store } = gallery.database
  const eventId = await sendTest(webhookId)
  const [first] = await receiver.waitFor(isFor('signed'))
  assert.ok(first)
  assert.match(secret, /^whsec_[\w-]{43}$/u)
  assert.match(String(first.headers['facegate-signature']), /^t=\d{10},v1=[0-9a-f]{64}$/u)
  assert.equal(first.headers['facegate-event-id'], eventId)
  assert.equal(first.headers['content-type'], 'application/json')
  const event = await eventOf(first, secret, nowMs)
  assert.deepEqual([event.id, event.type, event.data], [eventId, 'webhook.test', { webhookId }])
  assert.equal(event.projectId, projectId)
  await assert.rejects(eventOf({ ...first, body: `${first.body} ` }, secret, nowMs))
  await assert.rejects(eventOf(first, `${secret}x`, nowMs))
  await eventOf(first, secret, nowMs + 299_000)
  await assert.rejects(eventOf(first, secret, nowMs + 301_001), /more than 300 s/u)
  await assert.rejects(eventOf(first, secret, nowMs - 301_001), /more than 300 s/u)
  await assert.rejects(eventOf({ ...first, headers: {} }, secret, nowMs), /missing/u)

  const rotation = { nowMs, overlapHours: 1 }
  const newSecret = await store.write((tx) =>
    gallery.webhooks.rotateSecret(tx, { webhookId }, rotation),
  )
  await sendTest(webhookId)
  const [, second] = await receiver.waitFor(isFor('signed'), 2)
  assert.ok(second)
  await eventOf(second, secret, nowMs)
  await eventOf(second, newSecret, nowMs)
  nowMs += 3_600_000
  await sendTest(webhookId)
  const [, , third] = await receiver.waitFor(isFor('signed'), 3)
  assert.ok(third)
  await eventOf(third, newSecret, nowMs)
  await assert.rejects(eventOf(third, secret, nowMs), /no signature/u)
  const [row] = await store.db.selectFrom('webhookSecrets').selectAll().execute()
  assert.ok(row && !Buffer.from(row.wrapped).toString('latin1').includes('whsec_'))
})

test('An event is repeated after the status 500, a redirect and an upgrade until it is accepted', async () => {
  const { webhookId, secret } = await createWebhook('repeated')
  const location = `${receiver.url}/elsewhere`
  const upgrade = respondWith(101, { connection: 'upgrade', upgrade: 'websocket' })
  const responses = [respondWith(500), respondWith(307, { location }), upgrade, accept]
  const errors: (string | null)[] = []
  receiver.respond((response, request) => responses.shift()?.(response, request))
  const eventId = await sendTest(webhookId)
  for (let attempt = 1; attempt <= 3; attempt++) {
    const failed = await waitForDelivery(
      webhookId,
      ({ attempts, error }) => attempts === attempt && error !== null && error !== errors.at(-1),
    )
    errors.push(failed.error)
    const [webhook] = await readWebhooks(webhookId)
    assert.equal(webhook?.failures, attempt)
    nowMs += 60_000
  }
  await waitForDelivery(webhookId, ({ state }) => state === 'delivered')
  receiver.respond(accept)
  assert.deepEqual(errors, ['status 500', 'status 307: redirects are not followed', 'status 101'])
  const requests = await receiver.waitFor(isFor('repeated'))
  const ids = await Promise.all(requests.map((one) => eventOf(one, secret, sentAtMs(one))))
  assert.deepEqual(
    ids.map(({ id }) => id),
    Array(4).fill(eventId),
  )
  assert.equal(receiver.requests.some(isFor('elsewhere')), false)
  const [webhook] = await readWebhooks(webhookId)
  assert.deepEqual([webhook?.failures, webhook?.failingSinceMs, webhook?.pending], [0, null, 0])
})

test('A request without a response ends with the timeout, and its event is repeated', async () => {
  const environment = { ...webhookSettings, WEBHOOK_TIMEOUT_MS: '1000' }
  await using service = await startGallery({ clock: () => nowMs, environment })
  const { webhookId } = await createWebhook('hanging', service)
  receiver.respond(() => {})
  await sendTest(webhookId, service)
  const { error } = await waitForDelivery(webhookId, (delivery) => delivery.error !== null, service)
  assert.equal(error, 'no response within 1000 ms')
  receiver.respond(accept)
  const startMs = nowMs
  // On a slow machine a response may take longer, too: the event is then repeated again.
  const isDelivered = ({ state, attempts }: WebhookDelivery): boolean => {
    nowMs = startMs + 5000 * attempts
    return state === 'delivered'
  }
  await waitForDelivery(webhookId, isDelivered, service)
})

function sentAtMs({ headers }: ReceivedRequest): number {
  return Number(/^t=(\d+)/u.exec(String(headers['facegate-signature']))?.[1]) * 1000
}

async function readWebhooks(webhookId: string) {
  return gallery.database.store.read((tx) => findWebhooks(tx, { webhookId }))
}

test('An event is given up after the last attempt, and can be sent again', async () => {
  const { webhookId } = await createWebhook('given-up')
  const { store } = gallery.database
  receiver.respond(respondWith(503))
  const eventId = await sendTest(webhookId)
  await waitForDelivery(webhookId, ({ error }) => error !== null)
  await store.db
    .updateTable('webhookDeliveries')
    .set({ attempts: attemptsMax - 1, dueAtMs: nowMs })
    .where('eventId', '=', eventId)
    .execute()
  nowMs += 60_000 // the pause of the webhook
  const last = await waitForDelivery(webhookId, ({ state }) => state === 'failed')
  assert.deepEqual([last.state, last.attempts, last.error], ['failed', attemptsMax, 'status 503'])
  receiver.respond(accept)
  const delivery = { webhookId, eventId }
  assert.equal(await store.write((tx) => gallery.webhooks.redeliver(tx, delivery, nowMs)), true)
  const sent = await waitForDelivery(webhookId, ({ state }) => state === 'delivered')
  assert.deepEqual([sent.attempts, sent.status, sent.error], [1, 204, null])
})

test('A long response is not read to its end', async () => {
  const { webhookId } = await createWebhook('long')
  let sentBytes = 0
  receiver.respond((response) => {
    response.writeHead(200)
    const write = (): void => {
      if (response.destroyed) return
      sentBytes += 65_536
      response.write(Buffer.alloc(65_536), () => setImmediate(write))
    }
    write()
  })
  await sendTest(webhookId)
  const delivery = await waitForDelivery(webhookId, ({ state }) => state === 'delivered')
  receiver.respond(accept)
  assert.equal(delivery.status, 200)
  assert.ok(sentBytes < 50_000_000, `${sentBytes} bytes were written before the end`)
})

test('A project has at most the maximum number of webhooks', async () => {
  await createWebhook('first')
  const { store } = gallery.database
  const add = () =>
    store.write((tx) =>
      gallery.webhooks.create(
        tx,
        { projectId, url: `${receiver.url}/more`, events: ['budget.low'] },
        nowMs,
      ),
    )
  for (let count = 1; count < webhooksPerProjectMax; count++) assert.ok(await add())
  assert.equal(await add(), undefined)
})

test('Events are delivered after a crash during a request, and between commit and request', async () => {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-webhooks-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  opened.defer(() => dropDatabase(dataDir))
  const hanging = opened.use(await startWebhookReceiver())
  hanging.respond(() => {})
  const environment = { ...webhookSettings, WEBHOOK_TIMEOUT_MS: '60000' }
  const crashing = await startGalleryProcess(dataDir, '', { environment })
  opened.defer(() => killGalleryProcess(crashing))
  const { client, key } = crashing
  await client.value('svc.enroll', imageParams('Ann'))
  const store = await openTestStoreOf(dataDir)
  const webhookId = await insertWebhook(store, dataDir, hanging.url)
  await client.value('svc.identify', imageParams('Ann'))
  const [first] = await hanging.waitFor(() => true)
  // While the first request has no response, no other event of the webhook is sent.
  await client.value('svc.identify', imageParams('Ann'))
  await killGalleryProcess(crashing)
  const left = await deliveriesOf(store, webhookId)
  await store.close()
  assert.deepEqual(
    left.map(({ state, attempts }) => [state, attempts]),
    [
      ['pending', 0],
      ['pending', 1],
    ],
  )
  hanging.respond(accept)
  // The lease of the killed server ends 50 seconds after the timeout of its request.
  const clock = () => Date.now() + 120_000
  opened.use(await startGallery({ dataDir, key, clock, environment }))
  const received = await hanging.waitFor(() => true, 3)
  const idOf = ({ headers }: ReceivedRequest) => String(headers['facegate-event-id'])
  const again = received.slice(1)
  assert.deepEqual(again.map(idOf).toSorted(), left.map(({ eventId }) => eventId).toSorted())
  assert.ok(first && again.some(({ body }) => body === first.body))
})

async function openTestStoreOf(dataDir: string) {
  return allAccountsStore(await openTestStore(dataDir))
}

/** Creates a webhook of the first project as the command line does. */
async function insertWebhook(
  store: Awaited<ReturnType<typeof openTestStoreOf>>,
  dataDir: string,
  url: string,
) {
  const rules = { allowedNetworks: ['127.0.0.0/8'], isHttpAllowed: true }
  const webhooks = createWebhooks(openKeyring(path.join(dataDir, 'master.key')), rules)
  const project = await findProject(store.db, 'default')
  assert.ok(project)
  const webhook = { projectId: project.projectId, url, events: ['identify.matched'] as const }
  const created = await store.write((tx) => webhooks.create(tx, webhook, Date.now()))
  assert.ok(created)
  return created.webhookId
}

test('Two servers on one database deliver each event once', { skip: !isOnPostgres() }, async () => {
  const { dataDir, key } = gallery
  const clock = () => nowMs
  const options = { dataDir, key, clock, environment: webhookSettings }
  await using second = await startGallery(options)
  assert.ok(second.url)
  const { webhookId } = await createWebhook('shared')
  const eventIds: string[] = []
  for (let count = 0; count < 40; count++) eventIds.push(await sendTest(webhookId))
  await receiver.waitFor(isFor('shared'), eventIds.length)
  await waitForDelivery(webhookId, () => true)
  const deliveries = await deliveriesOf(gallery.database.store, webhookId)
  assert.deepEqual([...new Set(deliveries.map(({ attempts }) => attempts))], [1])
  const received = receiver.requests
    .filter(isFor('shared'))
    .map(({ headers }) => String(headers['facegate-event-id']))
  assert.deepEqual(received.toSorted(), eventIds.toSorted())
})
