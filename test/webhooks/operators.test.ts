import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keyCommands } from '../../src/cli/tenancy/commands.ts'
import { webhook } from '../../src/cli/webhooks/commands.ts'
import { createAccount, createProject } from '../../src/store/tenancy/projects.ts'
import { runJson, runLines } from '../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'
import {
  accept,
  eventOf,
  respondWith,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks/webhook-receiver.ts'

let testConsole: TestConsole
let receiver: WebhookReceiver
before(async () => {
  // The command line reads its settings from the environment of this process.
  Object.assign(process.env, webhookSettings)
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

/** Runs a command in this process, on the database of the running server. */
const cli = (line: string) => runJson(testConsole.gallery.dataDir, webhook, line)

async function waitForState(webhookId: string, state: string) {
  for (;;) {
    const { items } = await get(`/webhooks/${webhookId}/deliveries`)
    if (items[0]?.state === state) return items[0]
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('The console creates, tests and deletes a webhook and shows its secret once', async () => {
  const { projectId } = testConsole
  const { eventTypes } = await get('/webhooks')
  const events = eventTypes
    .filter(({ isDefault }: { isDefault: boolean }) => isDefault)
    .map(({ type }: { type: string }) => type)
  assert.equal(events.includes('identify.matched'), false)
  const settings = { projectId, url: `${receiver.url}/console`, events }
  const created = assertOk(await send('POST', '/webhooks', settings)).body
  const { webhookId, secret } = created
  const tested = assertOk(await send('POST', `/webhooks/${webhookId}/test`)).body
  const delivered = await waitForState(webhookId, 'delivered')
  assert.deepEqual([delivered.eventId, delivered.status], [tested.eventId, 204])
  const [request] = await receiver.waitFor(({ path }) => path === '/console')
  assert.ok(request)
  assert.equal((await eventOf(request, secret)).id, tested.eventId)
  assertOk(await send('POST', `/webhooks/${webhookId}/deliveries/${tested.eventId}/redeliver`))
  const [, again] = await receiver.waitFor(({ path }) => path === '/console', 2)
  assert.equal(again?.headers['facegate-event-id'], tested.eventId)
  const rotated = assertOk(await send('POST', `/webhooks/${webhookId}/rotate-secret`, {})).body
  const shown = JSON.stringify([await get('/webhooks'), await get('/audit?limit=200')])
  for (const text of [secret, rotated.secret]) assert.equal(shown.includes(text), false)
  assertOk(await send('DELETE', `/webhooks/${webhookId}`))
  assert.deepEqual((await get('/webhooks')).items, [])
  assert.equal((await send('POST', `/webhooks/${webhookId}/test`)).status, 404)
})

test('The console and the command line create a webhook with a filter, and refuse one without effect', async () => {
  const { projectId } = testConsole
  const matchFilter = { groups: ['watch-list'], minSimilarity: 0.9 }
  const settings = { projectId, url: `${receiver.url}/filter`, events: ['identify.matched'] }
  const created = assertOk(await send('POST', '/webhooks', { ...settings, matchFilter })).body
  assert.deepEqual(created.matchFilter, matchFilter)
  const others = { ...settings, events: ['budget.low'], matchFilter }
  const refused = await send('POST', '/webhooks', others)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /applies only to events about faces/u)
  const wrongs = [{ groups: ['two words'] }, { groups: [] }, { minSimilarity: 1.1 }, { group: 'a' }]
  for (const wrong of wrongs)
    assert.equal((await send('POST', '/webhooks', { ...settings, matchFilter: wrong })).status, 422)
  const line = `create --project ${projectId} --url ${receiver.url}/filter`
  const filter = '--groups watch-list,staff --min-similarity 0.85'
  const added = await cli(`${line} --events identify.matched ${filter}`)
  const expected = { groups: ['watch-list', 'staff'], minSimilarity: 0.85 }
  assert.deepEqual(added.matchFilter, expected)
  const { items } = await get('/webhooks')
  assert.deepEqual(
    items.map((item: { matchFilter: object }) => item.matchFilter),
    [matchFilter, expected],
  )
  await assert.rejects(cli(`${line} ${filter}`), /apply only to events about faces/u)
  await assert.rejects(cli(`${line} --events all --groups -x`), /--groups/u)
  for (const { webhookId } of items) assertOk(await send('DELETE', `/webhooks/${webhookId}`))
})

test('Viewers and the audit log see only the origin of an address, which can contain a token', async () => {
  const { owner, projectId } = testConsole
  const tokens = ['path-token', 'query-token']
  const url = `${receiver.url}/services/path-token?key=query-token`
  const hidden = `${receiver.url}/…`
  const created = await send('POST', '/webhooks', { projectId, url, events: ['budget.low'] })
  const { webhookId } = assertOk(created).body
  const viewer = await testConsole.inviteMember('viewer')
  const admin = await testConsole.inviteMember('admin')
  const urlsFor = async (client: typeof owner) =>
    assertOk(await client.get('/webhooks')).body.items.map((item: { url: string }) => item.url)
  assert.deepEqual(await urlsFor(viewer), [hidden])
  assert.deepEqual(await urlsFor(admin), [url])
  assertOk(await send('DELETE', `/webhooks/${webhookId}`))
  const bare = { projectId, url: receiver.url, events: ['budget.low'] }
  const { webhookId: bareId } = assertOk(await send('POST', '/webhooks', bare)).body
  assert.deepEqual(await urlsFor(viewer), [receiver.url])
  assertOk(await send('DELETE', `/webhooks/${bareId}`))
  const added = await cli(`create --project ${projectId} --url ${url}`)
  await cli(`delete ${added.webhookId}`)
  for (const path of ['/audit?limit=200', '/audit.csv']) {
    const { text } = assertOk(await viewer.get(path))
    assert.ok(text.includes(hidden), path)
    for (const token of tokens) assert.equal(text.includes(token), false, path)
  }
})

test('A webhook that fails is shown as failing until it accepts an event', async () => {
  const { projectId } = testConsole
  const settings = { projectId, url: `${receiver.url}/failing`, events: ['budget.low'] }
  const { webhookId } = assertOk(await send('POST', '/webhooks', settings)).body
  receiver.respond(respondWith(410))
  assertOk(await send('POST', `/webhooks/${webhookId}/test`))
  await receiver.waitFor(({ path }) => path === '/failing')
  const readItem = async () => (await get('/webhooks')).items[0]
  while ((await readItem()).failures === 0) await new Promise((done) => setTimeout(done, 20))
  assert.notEqual((await readItem()).failingSinceUtc, null)
  const alertsOf = async () =>
    (await get('/overview')).alerts.map(({ kind }: { kind: string }) => kind)
  assert.equal((await alertsOf()).includes('webhookFailing'), false)
  const failingSinceMs = Date.now() - 3_600_000
  const { db } = testConsole.gallery.database.store
  await db.updateTable('webhooks').set({ failingSinceMs }).execute()
  assert.ok((await alertsOf()).includes('webhookFailing'))
  receiver.respond(accept)
  assertOk(await send('POST', `/webhooks/${webhookId}/test`))
  await waitForState(webhookId, 'delivered')
  while ((await readItem()).failures > 0) await new Promise((done) => setTimeout(done, 20))
  assert.equal((await readItem()).failingSinceUtc, null)
  assertOk(await send('DELETE', `/webhooks/${webhookId}`))
})

test('The console rejects addresses that are not public, roles without the right and other accounts', async () => {
  const { projectId, gallery } = testConsole
  const create = (url: string, owner = testConsole.owner) =>
    owner.send('POST', '/webhooks', { projectId, url, events: ['budget.low'] })
  const rejected = {
    'https://10.0.0.1/': /10\.0\.0\.1 is not a public address; WEBHOOK_ALLOWED_NETWORKS/u,
    'ftp://example.com': /body\.url.*must be an https address/u,
    'https://a:b@example.com': /user name or a password/u,
  }
  for (const [url, message] of Object.entries(rejected)) {
    const response = await create(url)
    assert.equal(response.status, 422, url)
    assert.match(response.text, message)
  }
  const viewer = await testConsole.inviteMember('viewer')
  assert.equal((await create('https://example.com', viewer)).status, 403)
  assertOk(await viewer.get('/webhooks'))
  const { store } = gallery.database
  const now = new Date()
  const accountId = await createAccount(store.db, 'other', now)
  const other = await createProject(
    store.db,
    { accountId, name: 'other', galleryMode: 'isolated' },
    now,
  )
  const foreign = await store.write((tx) =>
    gallery.webhooks.create(
      tx,
      { projectId: other.projectId, url: 'https://webhook.invalid', events: ['budget.low'] },
      Date.now(),
    ),
  )
  const path = `/webhooks/${foreign?.webhookId}`
  assert.deepEqual((await get('/webhooks')).items, [])
  assert.equal((await send('DELETE', path)).status, 404)
  assert.equal((await send('POST', `${path}/test`)).status, 404)
  assert.equal((await testConsole.owner.get(`${path}/deliveries`)).status, 404)
  await cli(`delete ${foreign?.webhookId}`)
})

test('The command line manages webhooks while a server runs, with audit entries', async () => {
  const create = `create --project default --url ${receiver.url}/cli`
  const { webhookId, secret, events } = await cli(`${create} --events budget.low,identify.matched`)
  assert.deepEqual(events, ['budget.low', 'identify.matched'])
  const tested = await cli(`test ${webhookId}`)
  assert.deepEqual([tested.state, tested.status], ['delivered', 204])
  const rotated = await cli(`rotate-secret ${webhookId} --overlap-hours 0`)
  await cli(`redeliver ${webhookId} ${tested.eventId}`)
  const [, request] = await receiver.waitFor(({ path }) => path === '/cli', 2)
  assert.ok(request)
  await eventOf(request, rotated.secret)
  await assert.rejects(eventOf(request, secret))
  const [listed] = await cli('list --project default')
  assert.deepEqual([listed.webhookId, listed.projectName], [webhookId, 'default'])
  const deliveries = await cli(`deliveries ${webhookId} --state delivered`)
  assert.equal(deliveries[0].eventId, tested.eventId)
  const { dataDir } = testConsole.gallery
  const [table = ''] = await runLines(dataDir, webhook, 'list')
  assert.match(table, /^id +project +url/u)
  await cli(`delete ${webhookId}`)
  const { items } = await get('/audit?limit=200')
  const byCommand = items.filter(
    ({ userName }: { userName: string }) => userName === 'command line',
  )
  const actions = new Set(byCommand.map(({ auditAction }: { auditAction: string }) => auditAction))
  for (const verb of ['create', 'test', 'rotateSecret', 'redeliver', 'delete'])
    assert.ok(actions.has(`webhook.${verb}`), verb)
  const failures = {
    [`${create} --events no`]: /no is not valid; use all, budget\.low/u,
    'create --project default': /--url was not given; pass --url <https/u,
    'create --project default --url http://10.0.0.1': /not a public address/u,
    'create --project none --url https://example.com': /there is no project none/u,
    'rotate-secret x --overlap-hours 169': /whole number from 0 to 168/u,
    'delete x': /there is no webhook x/u,
    'deliveries x --state open': /must be pending, delivered or failed/u,
  }
  for (const [line, message] of Object.entries(failures))
    await assert.rejects(runLines(dataDir, webhook, line), message)
})

test('Events are signed with the same secret after a rotation of the master key', async () => {
  const { webhookId, secret } = await cli(`create --project default --url ${receiver.url}/rotated`)
  const { store } = testConsole.gallery.database
  const readSecret = () =>
    store.db.selectFrom('webhookSecrets').selectAll().executeTakeFirstOrThrow()
  const before = await readSecret()
  await runJson(testConsole.gallery.dataDir, keyCommands, 'rotate-master')
  const rewrapped = await readSecret()
  assert.notEqual(rewrapped.masterKeyId, before.masterKeyId)
  assert.notDeepEqual(rewrapped.wrapped, before.wrapped)
  await cli(`test ${webhookId}`)
  const [request] = await receiver.waitFor(({ path }) => path === '/rotated')
  assert.ok(request)
  await eventOf(request, secret)
})
