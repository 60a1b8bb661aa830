import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allocate, topUp } from '../../src/billing/ledger.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { budgetLedger, updateProject, type Project } from '../../src/store/tenancy/projects.ts'
import { allEventTypes, type WebhookEventType } from '../../src/store/webhooks/event-types.ts'
import type { WebhookEvent } from '../../client/src/webhooks/webhook-event.ts'
import { addExpiryNotices } from '../../src/webhooks/key-notices.ts'
import { countCallStatements } from '../support/database/count-statements.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { deliveriesOf, webhookSettings } from '../support/webhooks/webhook-settings.ts'
import {
  eventOf,
  startWebhookReceiver,
  type ReceivedRequest,
  type WebhookReceiver,
} from '../support/webhooks/webhook-receiver.ts'

/** The price of one unit. */
const unitMicros = 1000n
const dayMs = 86_400_000

let nowMs = Date.now()
let gallery: TestGallery
let receiver: WebhookReceiver
before(async () => {
  receiver = await startWebhookReceiver()
  const environment = { ...webhookSettings, COMPREFACE_API: 'on', WEBHOOK_OUTBOX_MAX: '3' }
  gallery = await startGallery({ clock: () => nowMs, environment })
})
after(async () => {
  await gallery?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
})

type TestProject = GalleryClient & { readonly project: Project }

/** A project with a webhook whose path is its id. */
async function createWebhookProject(
  events: readonly WebhookEventType[] = allEventTypes,
): Promise<TestProject & { readonly webhookId: string; readonly secret: string }> {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  return { ...client, ...(await addWebhook(client.project, events)) }
}

async function addWebhook({ projectId }: Project, events: readonly WebhookEventType[]) {
  const { store } = gallery.database
  const url = `${receiver.url}/${projectId}`
  const created = await store.write((tx) =>
    gallery.webhooks.create(tx, { projectId, url, events }, nowMs),
  )
  assert.ok(created)
  return created
}

/** Waits for events of a project and returns them, verified, in the order of their arrival. */
async function receive(
  { project, secret }: { readonly project: Project; readonly secret: string },
  type: WebhookEvent['type'],
  count = 1,
): Promise<readonly WebhookEvent[]> {
  const requests = await receiver.waitFor(
    ({ path, body }) => path === `/${project.projectId}` && body.includes(`"type":"${type}"`),
    count,
  )
  return Promise.all(requests.map((request) => eventOf(request, secret, sentAtMs(request))))
}

/** The clock of the service runs ahead during these tests. */
function sentAtMs({ headers }: ReceivedRequest): number {
  return Number(/^t=(\d+)/u.exec(String(headers['facegate-signature']))?.[1]) * 1000
}

/** Sets the budget of a project with one allocation or return. */
async function setBudget({ project }: TestProject, micros: bigint): Promise<void> {
  const { store } = gallery.database
  const { balanceMicros } = await findBalance(store.db, budgetLedger(project.projectId))
  await store.write(async (tx) => {
    if (micros > 0n) await topUp(tx, project.accountId, micros, nowMs)
    await allocate(tx, project, micros - balanceMicros, nowMs)
  })
}

const detect = ({ call }: GalleryClient) => call('svc.detect', imageParams('Ann'))

const typesOf = async (webhookId: string): Promise<readonly string[]> =>
  (await deliveriesOf(gallery.database.store, webhookId)).map(({ type }) => type).toReversed()

test('A budget is reported once at 20 % and once at 0, and again after an allocation', async () => {
  const project = await createWebhookProject(['budget.low', 'budget.exhausted'])
  await setBudget(project, 0n)
  const emptied = await receive(project, 'budget.exhausted')
  assert.deepEqual(emptied[0]?.data, { balanceMicros: '0', thresholdMicros: '0' })
  await setBudget(project, 10n * unitMicros)
  for (let call = 0; call < 7; call++) await detect(project)
  assert.deepEqual((await typesOf(project.webhookId)).toSorted(), [
    'budget.exhausted',
    'budget.low',
  ])
  await detect(project) // 80 % are spent
  const low = (await receive(project, 'budget.low', 2)).at(-1)
  assert.deepEqual(low?.data, { balanceMicros: '2000', thresholdMicros: '2000' })
  assert.equal(low?.projectId, project.project.projectId)
  assert.ok(Math.abs(Date.parse(low?.createdAtUtc ?? '') - Date.now()) < 60_000)
  await detect(project)
  await detect(project)
  assert.equal((await detect(project)).body.errors[0].code, 'PAYMENT_REQUIRED')
  const both = ['budget.low', 'budget.exhausted']
  const twice = [...both, ...both]
  assert.deepEqual((await typesOf(project.webhookId)).toSorted(), twice.toSorted())
  await setBudget(project, 1n * unitMicros)
  await detect(project)
  await receive(project, 'budget.exhausted', 3)
  const all = [...both, ...both, ...both]
  assert.deepEqual((await typesOf(project.webhookId)).toSorted(), all.toSorted())
})

test('A budget that is too small for a refused call counts as exhausted, once', async () => {
  const project = await createWebhookProject(['budget.exhausted'])
  await setBudget(project, 3n * unitMicros)
  assert.equal((await project.call('svc.identify', imageParams('Ann'))).body.ok, true)
  assert.deepEqual(await typesOf(project.webhookId), [])
  for (let attempt = 0; attempt < 2; attempt++)
    assert.equal(await project.code('svc.identify', imageParams('Ann')), 'PAYMENT_REQUIRED')
  const [event] = await receive(project, 'budget.exhausted')
  assert.deepEqual(event?.data, { balanceMicros: '1000', thresholdMicros: '1999' })
  await detect(project)
  assert.deepEqual(await typesOf(project.webhookId), ['budget.exhausted'])
})

test('Matches are sent only to webhooks that receive them, without a picture or a name', async () => {
  const project = await createWebhookProject(['identify.matched'])
  const others = await addWebhook(project.project, ['budget.low'])
  const ann = await project.value('svc.enroll', {
    ...imageParams('Ann'),
    externalId: 'ann-1',
    displayName: 'Ann Example',
    groups: ['staff', 'day'],
  })
  await project.value('svc.identify', imageParams('Zoe'))
  const requestId = randomUUID()
  const body = { action: 'svc.identify', params: imageParams('Ann'), requestId }
  const { bestMatch, threshold } = (await project.post(body)).body.data.results[0].value
  await project.post(body) // a replay
  const [event] = await receive(project, 'identify.matched')
  assert.equal(event?.type, 'identify.matched')
  const { matches, ...call } = event.data
  assert.equal(call.requestId, requestId)
  const { subjectId, faceId } = ann
  const ids = { subjectId, faceId, externalId: 'ann-1', groups: ['day', 'staff'] }
  const { similarity } = bestMatch
  assert.deepEqual(matches, [
    { resultIndex: 0, faceIndex: 0, outcome: 'match', ...ids, similarity, threshold },
  ])
  assert.deepEqual(await typesOf(project.webhookId), ['identify.matched'])
  assert.deepEqual(await typesOf(others.webhookId), [])
})

test('A match of the CompreFace route is sent too', async () => {
  const project = await createWebhookProject(['identify.matched'])
  const { subjectId } = await project.value('svc.enroll', imageParams('Ann'))
  const [image] = (imageParams('Ann') as { images: { bytes: string }[] }).images
  const { status } = await fetch(`${project.url}/api/v1/recognition/recognize`, {
    method: 'POST',
    headers: { 'x-api-key': project.key, 'content-type': 'application/json' },
    body: JSON.stringify({ file: image?.bytes }),
  })
  assert.equal(status, 200)
  const [event] = await receive(project, 'identify.matched')
  assert.ok(event?.type === 'identify.matched')
  assert.equal(event.data.matches[0]?.subjectId, subjectId)
})

test('Webhooks that no event is due for add no statement to a call', async () => {
  const plain: TestProject = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const watched = await createWebhookProject(['budget.low', 'budget.exhausted'])
  const matched = await createWebhookProject(['identify.matched'])
  const counts: number[] = []
  for (const client of [plain, watched, matched]) {
    await client.value('svc.enroll', imageParams('Ann'))
    await client.value('svc.identify', imageParams('Ann'))
    counts.push(await countCallStatements(() => client.value('svc.identify', imageParams('Ann'))))
  }
  const [ofPlain = 0, ofWatched, ofMatched] = counts
  assert.equal(ofWatched, ofPlain)
  assert.ok((ofMatched ?? 0) > ofPlain, 'a match with a webhook stores its event')
})

test('Subjects deleted by their expiry or by the retention are reported', async () => {
  const project = await createWebhookProject(['subject.expired'])
  await updateProject(gallery.database.store.db, project.project.projectId, { retentionDays: 1 })
  const enroll = (name: string, params: object = {}) =>
    project.value('svc.enroll', { ...imageParams(name), externalId: name, ...params })
  const expiresAtUtc = new Date(nowMs + 60_000).toISOString()
  const [ann, ben] = [await enroll('Ann', { expiresAtUtc }), await enroll('Ben', { expiresAtUtc })]
  const removed = await enroll('Dan')
  await project.value('svc.deleteSubject', { subjectId: removed.subjectId })
  nowMs += 60_000
  await enroll('Ann') // replaces the expired subject at once
  const cid = await enroll('Cid')
  const sweep = () => runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep())
  await sweep()
  await receive(project, 'subject.expired', 2)
  nowMs += dayMs + 1
  await sweep()
  const events = await receive(project, 'subject.expired', 4)
  const reasons = new Map(
    events.map(({ data }) => ('reason' in data ? [data.subjectId, data.reason] : ['', ''])),
  )
  assert.equal(reasons.get(ann.subjectId), 'expiresAtUtc')
  assert.equal(reasons.get(ben.subjectId), 'expiresAtUtc')
  assert.equal(reasons.get(cid.subjectId), 'retention')
  assert.equal(reasons.has(removed.subjectId), false)
  assert.equal(events.length, 4)
})

test('A key is reported 14 days and one day before its expiry, once each', async () => {
  const project = await createWebhookProject(['key.expiring'])
  const { store } = gallery.database
  const { projectId } = project.project
  const addKey = async (name: string, days: number) =>
    createKey(
      store.db,
      {
        projectId,
        name,
        permissions: ['*'],
        expiresAtUtc: new Date(nowMs + days * dayMs).toISOString(),
      },
      new Date(nowMs),
    )
  const { keyId } = await addKey('long', 20)
  await addKey('short', 1)
  await addKey('week', 7)
  const notify = () => runAsAllAccounts(() => addExpiryNotices({ store, nowMs, outboxMax: 1000 }))
  await notify()
  nowMs += 6 * dayMs - 1
  await notify()
  assert.deepEqual(await typesOf(project.webhookId), [])
  nowMs += 1
  await notify()
  await notify()
  nowMs += 13 * dayMs
  await notify()
  await notify()
  const events = await receive(project, 'key.expiring', 3)
  const notices = events.map(({ data }) => ('days' in data ? `${data.name} ${data.days}` : ''))
  assert.deepEqual(notices.toSorted(), ['long 1', 'long 14', 'week 1'])
  const long = events.find(({ data }) => 'days' in data && data.days === 14)
  assert.equal(long?.type === 'key.expiring' && long.data.keyId, keyId)
})

test('A full outbox discards the next match and counts it', async () => {
  const project = await createWebhookProject(['identify.matched', 'budget.exhausted'])
  const { store } = gallery.database
  await project.value('svc.enroll', imageParams('Ann'))
  receiver.respond((response) => void response.writeHead(500).end())
  // Nothing is sent meanwhile, because the clock of the service does not pass the pause.
  await store.write(async (tx) => {
    const pausedUntilMs = nowMs + dayMs
    await tx.run(
      tx.build
        .updateTable('webhooks')
        .set({ pausedUntilMs })
        .where('webhookId', '=', project.webhookId),
    )
  })
  for (let call = 0; call < 4; call++) await project.value('svc.identify', imageParams('Ann'))
  assert.deepEqual(await typesOf(project.webhookId), Array(3).fill('identify.matched'))
  await setBudget(project, 0n)
  assert.ok((await typesOf(project.webhookId)).includes('budget.exhausted'))
  const [row] = await store.db
    .selectFrom('webhooks')
    .select(['discarded'])
    .where('webhookId', '=', project.webhookId)
    .execute()
  assert.equal(row?.discarded, 1)
})
