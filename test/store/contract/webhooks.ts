import assert from 'node:assert/strict'
import type { WebhookEventType } from '../../../src/store/webhooks/event-types.ts'
import { queries } from './tracked-queries.ts'
import type { StoreFixture } from './store-fixture.ts'

const nowMs = Date.UTC(2026, 0, 10)
const dayMs = 86_400_000

export const webhooksContract = {
  'webhooks are found by project, counted for matches and deleted with their deliveries': async ({
    store,
    project: { projectId },
    accountId,
  }: StoreFixture) => {
    const events = ['budget.low', 'identify.matched'] as const
    const webhook = { projectId, url: 'https://example.com/a', events }
    const webhookId = await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))
    assert.ok(webhookId)
    const [found] = await store.read((tx) => queries.findWebhooks(tx, { accountId }))
    assert.deepEqual([found?.webhookId, found?.events], [webhookId, events])
    assert.deepEqual(queries.parseEventTypes('["budget.low","unknown"]'), ['budget.low'])
    assert.equal((await store.read((tx) => queries.findWebhooks(tx, { projectId }))).length, 1)
    const other = await store.read((tx) => queries.findWebhooks(tx, { accountId: 'other' }))
    assert.deepEqual(other, [])
    const matchWebhooks = async () =>
      (await store.db.selectFrom('projects').select('matchWebhooks').execute())[0]?.matchWebhooks
    assert.equal(await matchWebhooks(), 1)
    const change = { events: ['key.expiring'] as const, matchFilter: {} }
    await store.write((tx) => queries.changeWebhookEvents(tx, { webhookId, projectId }, change))
    assert.equal(await matchWebhooks(), 0)
    const [changed] = await store.read((tx) => queries.findWebhooks(tx, { projectId }))
    assert.deepEqual([changed?.events, changed?.matchFilter], [change.events, {}])
    await store.write((tx) => queries.addTestEvent(tx, { webhookId, projectId }, nowMs))
    const deleteOnce = () =>
      store.write((tx) => queries.deleteWebhook(tx, { webhookId, projectId }))
    assert.equal(await deleteOnce(), true)
    assert.equal(await deleteOnce(), false)
    assert.equal(await matchWebhooks(), 0)
    await queries.removeDeletedWebhooks(store)
    assert.deepEqual(await store.db.selectFrom('webhookDeliveries').selectAll().execute(), [])
    assert.deepEqual(await store.db.selectFrom('webhooks').selectAll().execute(), [])
  },

  'an event goes to the webhooks that receive it, up to the limit of pending deliveries': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const create = async (events: readonly ('subject.expired' | 'budget.low')[]) => {
      const webhook = { projectId, url: 'https://example.com/a', events }
      return (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    }
    const ids = [await create(['subject.expired']), await create(['subject.expired'])]
    const other = await create(['budget.low'])
    const data = { text: 'Zoë "quoted" %' }
    const event = { projectId, type: 'subject.expired', data, atMs: nowMs } as const
    const add = () => store.write((tx) => queries.addEvent(tx, event, { outboxMax: 2 }))
    await add()
    const list = (webhookId: string) =>
      store.read((tx) => queries.findDeliveries(tx, { webhookId, limit: 10 }))
    const [[first], [second]] = await Promise.all([list(ids[0] ?? ''), list(ids[1] ?? '')])
    assert.equal(first?.eventId, second?.eventId)
    assert.match(first?.eventId ?? '', /^evt_[0-9a-f]{32}$/u)
    const delivery = { webhookId: ids[0] ?? '', eventId: first?.eventId ?? '' }
    const stored = await store.read((tx) => queries.findDeliveryData(tx, delivery))
    assert.deepEqual(JSON.parse(stored ?? ''), data)
    assert.deepEqual(await list(other), [])
    await add()
    await add()
    const { pending, discarded, failing } = await store.read(queries.countOutbox)
    assert.deepEqual([pending, discarded, failing], [4, 2, 0])
  },

  'matches are selected by the filter of each webhook, which follows the name of a group': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const outcomes = ['match'] as const
    const matchFilter = { groups: ['watched'], outcomes, minSimilarity: 0.9 }
    assert.deepEqual(queries.parseMatchFilter(JSON.stringify(matchFilter)), matchFilter)
    const create = async (events: readonly WebhookEventType[], filter = {}) => {
      const webhook = { projectId, url: 'https://example.com/a', events, matchFilter: filter }
      return (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    }
    const filtered = await create(['identify.matched'], matchFilter)
    const all = [await create(['identify.matched']), await create(['identify.matched'])]
    await create(['budget.low'])
    const outcome = 'match' as const
    const ids = {
      resultIndex: 0,
      faceIndex: 0,
      outcome,
      subjectId: 's',
      externalId: null,
      faceId: 'f',
    }
    const match = { ...ids, groups: ['watched', 'day'], similarity: 0.9, threshold: 0.8 }
    const others = [
      { ...match, similarity: 0.8999 },
      { ...match, outcome: 'ambiguous' as const },
      { ...match, groups: ['day'] },
    ]
    const type = 'identify.matched' as const
    assert.ok(queries.isFaceEvent(type))
    const faces = [match, ...others]
    const events = faces.map(({ resultIndex, ...face }) => ({ type, resultIndex, face }))
    const receivers = async () =>
      (await store.read((tx) => queries.findFaceEventReceivers(tx, projectId, events)))
        .map((one) => ({ ...one, webhookIds: one.webhookIds.toSorted() }))
        .toSorted((a, b) => a.faces.length - b.faces.length)
    const toAll = { type, webhookIds: all.toSorted(), faces, omitted: 0 }
    const toFiltered = { type, webhookIds: [filtered], faces: [match], omitted: 0 }
    assert.deepEqual(await receivers(), [toFiltered, toAll])
    const rename = (galleryId: string) =>
      store.write((tx) =>
        queries.renameGroupInFilters(tx, { galleryId, name: 'watched', newName: 'new' }),
      )
    await rename('another gallery')
    assert.equal((await receivers()).length, 2)
    await rename(projectId)
    assert.deepEqual(await receivers(), [toAll])
  },

  'a delivery is claimed once, and a late result of an earlier claim is not stored': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const webhook = { projectId, url: 'https://example.com/a', events: ['budget.low'] as const }
    const webhookId = (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    await store.write((tx) => queries.addTestEvent(tx, { webhookId, projectId }, nowMs))
    const due = async (atMs: number) => {
      const filter = { nowMs: atMs, limit: 5 }
      const found = await store.read((tx) => queries.findDueWebhooks(tx, filter))
      return found.map((webhook) => webhook.webhookId)
    }
    assert.deepEqual(await due(nowMs), [webhookId])
    const claim = (atMs: number) => {
      const lease = { webhookId, nowMs: atMs, leaseUntilMs: atMs + 1000, limit: 4 }
      return store.write((tx) => queries.claimDeliveries(tx, lease))
    }
    const [first] = await claim(nowMs)
    assert.ok(first)
    assert.deepEqual([first.attempts, first.url, first.failures], [1, webhook.url, 0])
    assert.deepEqual([await claim(nowMs + 999), await due(nowMs + 999)], [[], []])
    const [second] = await claim(nowMs + 1000)
    assert.ok(second)
    const failed = { state: 'pending', dueAtMs: nowMs + 5000, status: 500, error: 'x' } as const
    const record = (delivery: typeof first) =>
      store.write((tx) => queries.recordAttempt(tx, delivery, failed))
    assert.deepEqual([await record(first), await record(second)], [false, true])
    const [attempted] = await store.read((tx) => queries.findWebhooks(tx, { webhookId }))
    assert.deepEqual(
      [attempted?.attemptedAtMs, attempted?.status, attempted?.error, attempted?.pending],
      [nowMs + 1000, 500, 'x', 1],
    )
    const pause = { failures: 1, nowMs, pausedUntilMs: nowMs + 9000 }
    await store.write((tx) => queries.pauseWebhook(tx, webhookId, pause))
    assert.deepEqual([await due(nowMs + 8999), await claim(nowMs + 8999)], [[], []])
    const [third] = await claim(nowMs + 9000)
    assert.ok(third)
    await store.write((tx) => queries.releaseDelivery(tx, third))
    await store.write((tx) => queries.resumeWebhook(tx, webhookId, { isWorking: true }))
    assert.deepEqual(await due(nowMs), [webhookId])
    const delivery = { webhookId, eventId: third.eventId }
    assert.equal(await store.write((tx) => queries.redeliver(tx, delivery, nowMs)), true)
    const old = { beforeMs: nowMs - 1, error: 'too old' }
    const expire = (beforeMs: number) =>
      store.write((tx) => queries.expireDeliveries(tx, { ...old, beforeMs }))
    assert.deepEqual([await expire(nowMs - 1), await expire(nowMs)], [0, 1])
    const remove = (beforeMs: number) =>
      store.write((tx) => queries.deleteOldDeliveries(tx, { state: 'failed', beforeMs }))
    assert.deepEqual([await remove(nowMs - 1), await remove(nowMs)], [0, 1])
  },

  'earlier secrets of a webhook expire, the newest does not': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const webhook = { projectId, url: 'https://example.com/a', events: ['budget.low'] as const }
    const webhookId = (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    const add = (secretId: string, createdAtMs: number) => {
      const wrapped = { masterKeyId: 'a', wrapped: Buffer.from([1]) }
      const secret = { secretId, webhookId, ...wrapped, createdAtMs }
      return store.write((tx) => queries.addWebhookSecret(tx, secret, createdAtMs + 1000))
    }
    await add('one', nowMs)
    await add('two', nowMs + 1)
    const valid = async (atMs: number) =>
      (await store.read((tx) => queries.findWebhookSecrets(tx, webhookId, atMs))).map(
        ({ secretId }) => secretId,
      )
    assert.deepEqual(await valid(nowMs + 1000), ['two', 'one'])
    assert.deepEqual(await valid(nowMs + 1001), ['two'])
    const rewrapped = { masterKeyId: 'b', wrapped: Buffer.from([2]) }
    await store.write((tx) => queries.updateWebhookSecret(tx, 'two', rewrapped))
    await store.write((tx) => queries.deleteExpiredSecrets(tx, nowMs + 1001))
    const secrets = await store.read(queries.listWebhookSecrets)
    assert.deepEqual(
      secrets.map(({ secretId, masterKeyId }) => [secretId, masterKeyId]),
      [['two', 'b']],
    )
  },

  'an expiring key is found for a webhook that receives it, until a notice is recorded': async ({
    store,
    project: { projectId },
    keyId,
  }: StoreFixture) => {
    const expiresAtUtc = new Date(nowMs + dayMs).toISOString()
    await store.db.updateTable('keys').set({ expiresAtUtc }).where('keyId', '=', keyId).execute()
    const filter = {
      nowUtc: new Date(nowMs).toISOString(),
      untilUtc: expiresAtUtc,
      noticeDays: 14,
      limit: 10,
    }
    const find = (change: object = {}) =>
      store.read((tx) => queries.findExpiringKeys(tx, { ...filter, ...change }))
    assert.deepEqual(await find(), [])
    const webhook = { projectId, url: 'https://example.com/a', events: ['key.expiring'] as const }
    await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))
    const [key] = await find()
    assert.equal(key?.keyId, keyId)
    assert.deepEqual(await find({ nowUtc: expiresAtUtc }), [])
    const record = () =>
      store.write((tx) => queries.recordExpiryNotice(tx, { keyId, expiryNoticeDays: null }, 14))
    assert.deepEqual([await record(), await record()], [true, false])
    assert.deepEqual([(await find()).length, (await find({ noticeDays: 1 })).length], [0, 1])
  },
}
