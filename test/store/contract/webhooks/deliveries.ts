import assert from 'node:assert/strict'
import { queries } from '../tracked-queries.ts'
import type { StoreFixture } from '../store-fixture.ts'

const nowMs = Date.UTC(2026, 0, 10)

export const deliveriesContract = {
  'a list of deliveries has those of all states in one order, also across pages': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const webhook = { projectId, url: 'https://example.com/a', events: ['budget.low'] as const }
    const webhookId = (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    const states = ['failed', 'pending', 'delivered', 'pending', 'failed', 'delivered'] as const
    const rows = states.map((state, number) => ({
      eventId: `evt_${number}`,
      webhookId,
      projectId,
      type: number < 3 ? 'call.failed' : 'budget.low',
      data: '{}',
      // Two events of each time.
      createdAtMs: Math.floor(number / 2),
      queuedAtMs: 1,
      state,
    }))
    await store.write((tx) => tx.run(tx.build.insertInto('webhookDeliveries').values(rows)))
    for (const isAscending of [true, false])
      for (const type of [undefined, 'call.failed']) {
        const found: string[] = []
        for (let after: { createdAtMs: number; eventId: string } | undefined; ;) {
          const filter = { webhookId, type, isAscending, after, limit: 2 }
          const page = await store.read((tx) => queries.findDeliveries(tx, filter))
          found.push(...page.map(({ eventId }) => eventId))
          after = page[1]
          if (!after) break
        }
        const ids = rows.filter((row) => type === undefined || row.type === type)
        const expected = ids.map(({ eventId }) => eventId)
        assert.deepEqual(found, isAscending ? expected : expected.toReversed())
      }
  },

  'the deliveries of a deleted webhook are deleted in batches, also after an interruption': async ({
    store,
    project: { projectId },
  }: StoreFixture) => {
    const webhook = { projectId, url: 'https://example.com/a', events: ['budget.low'] as const }
    const webhookId = (await store.write((tx) => queries.createWebhook(tx, webhook, nowMs))) ?? ''
    const times = { createdAtMs: 1, queuedAtMs: 1, dueAtMs: 0 }
    const values = { webhookId, projectId, type: 'budget.low', data: '{}', ...times }
    const rows = Array.from({ length: 1200 }, (_, number) => ({
      ...values,
      eventId: `evt_${number}`,
    }))
    await store.write((tx) => tx.run(tx.build.insertInto('webhookDeliveries').values(rows)))
    const count = async (table: 'webhooks' | 'webhookDeliveries') =>
      (await store.db.selectFrom(table).select('webhookId').execute()).length
    await store.write((tx) => queries.deleteWebhook(tx, { webhookId, projectId }))
    assert.equal(await count('webhookDeliveries'), 1200)
    // It is in no list, sends nothing, and cannot be changed.
    assert.deepEqual(await store.read((tx) => queries.findWebhooks(tx, { projectId })), [])
    const due = { nowMs, limit: 5 }
    assert.deepEqual(await store.read((tx) => queries.findDueWebhooks(tx, due)), [])
    const claim = { webhookId, nowMs, leaseUntilMs: nowMs + 1000, limit: 4 }
    assert.deepEqual(await store.write((tx) => queries.claimDeliveries(tx, claim)), [])
    const change = { events: ['key.expiring'] as const, matchFilter: {} }
    await store.write((tx) => queries.changeWebhookEvents(tx, { webhookId, projectId }, change))
    const left: number[] = []
    const removeInTransactions = (transactionsMax: number) => {
      const write: typeof store.write = async (job) => {
        if (left.length === transactionsMax) throw new Error('interrupted')
        const result = await store.write(job)
        left.push(await count('webhookDeliveries'))
        return result
      }
      return queries.removeDeletedWebhooks({ ...store, write })
    }
    await assert.rejects(removeInTransactions(2), /interrupted/u)
    assert.deepEqual([left, await count('webhooks')], [[700, 200], 1])
    await removeInTransactions(Infinity)
    // The last batch is empty. Then the webhook is deleted.
    assert.deepEqual([left, await count('webhooks')], [[700, 200, 0, 0, 0], 0])
  },
}
