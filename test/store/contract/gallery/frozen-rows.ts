import assert from 'node:assert/strict'
import type { Tx } from '../../../../src/store/database.ts'
import { deleteExpiredData } from '../../../../src/store/gallery/duplicates/subject-merges.ts'
import type { Webhook } from '../../../../src/store/webhooks/webhooks.ts'
import { countedCallOf } from '../ledger-rows.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  now,
  nowMs,
  type StoreFixture,
} from '../store-fixture.ts'

/** One row more than a batch has. */
const numbers = Array.from({ length: 501 }, (_, number) => number)

/** A frozen project with a webhook, and another one. */
async function createProjects({ store, accountId, project }: StoreFixture) {
  const named = { accountId, name: 'other', galleryMode: 'isolated' } as const
  const other = await queries.createProject(store.db, named, now)
  const webhook = { url: 'https://example.com/a', events: ['budget.low'] as const }
  const ids: string[] = []
  for (const { projectId } of [project, other])
    ids.push(
      (await store.write((tx) => queries.createWebhook(tx, { ...webhook, projectId }, 1))) ?? '',
    )
  const [webhookId = '', otherWebhookId = ''] = ids
  const change = store.db.updateTable('projects').set({ isFrozen: 1 })
  await change.where('projectId', '=', project.projectId).execute()
  const frozen = { projectId: project.projectId, webhookId }
  return { frozen, active: { projectId: other.projectId, webhookId: otherWebhookId } }
}

type Owner = Pick<Webhook, 'projectId' | 'webhookId'>

/** Adds completed attempts, pending and failed deliveries and near misses, all of 1970. */
async function addOldRows(tx: Tx, { projectId, webhookId }: Owner, of: readonly number[]) {
  const attempt = { keyId: 'k', action: 'svc.detect', fingerprint: Buffer.alloc(32), token: 't' }
  const done = { ...attempt, reservedMicros: 0n, deadlineMs: 0, state: 'done', code: 'OK' } as const
  const attempts = of.map((n) => ({ ...done, projectId, requestId: `r${n}`, windowStartMs: n }))
  await tx.run(tx.build.insertInto('attempts').values(attempts))
  const delivery = { webhookId, projectId, type: 'budget.low', data: '{}', createdAtMs: 1 }
  for (const state of ['pending', 'failed'] as const) {
    const rows = of.map((n) => ({ ...delivery, eventId: `${state} ${n}`, queuedAtMs: n, state }))
    await tx.run(tx.build.insertInto('webhookDeliveries').values(rows))
  }
  const times = { storedAtMs: 1, expiresAtMs: 2, ciphertext: Buffer.from('c') }
  const crops = of.map((n) => ({ cropId: `${projectId} ${n}`, projectId, requestId: `r${n}` }))
  const rows = crops.map((crop) => ({ ...crop, ...times, subjectId: 's-1' }))
  await tx.run(tx.build.insertInto('nearMissCrops').values(rows))
}

export const frozenRowsContract = {
  'sweeps of all accounts leave out frozen rows, also more than a batch of them': async (
    fixture: StoreFixture,
  ) => {
    const { store } = fixture
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    const { frozen, active } = await createProjects(fixture)
    assert.deepEqual(await queries.listFrozenAccounts(store.db), [fixture.accountId])
    await store.write(async (tx) => {
      await addOldRows(tx, frozen, numbers)
      await addOldRows(tx, active, [600])
    })
    const secret = { masterKeyId: 'master', wrapped: Buffer.from('wrapped'), createdAtMs: 1 }
    for (const { projectId, webhookId } of [frozen, active])
      await store.write(async (tx) => {
        for (const secretId of [`${webhookId} old`, `${webhookId} new`])
          await queries.addWebhookSecret(tx, { ...secret, webhookId, secretId }, 2)
        await queries.deleteWebhook(tx, { webhookId, projectId })
        for (const requestId of ['a', 'b'])
          await tx.logCall(countedCallOf(fixture, { projectId, requestId, atMs: 1 }))
      })
    const sweep = (run: (tx: Tx) => Promise<number>) => store.write(run)
    const expired = { beforeMs: nowMs, error: 'too late' }
    assert.equal(await sweep((tx) => queries.expireDeliveries(tx, expired)), 1)
    const failed = { state: 'failed', beforeMs: nowMs } as const
    assert.equal(await sweep((tx) => queries.deleteOldDeliveries(tx, failed)), 2)
    assert.equal(await sweep((tx) => queries.deleteExpiredAttempts(tx, nowMs)), 1)
    assert.equal(await sweep((tx) => deleteExpiredData(tx, 'nearMissCrops', nowMs)), 1)
    assert.equal(await sweep((tx) => tx.sweepCalls({ beforeMs: nowMs, limit: 2 })), 2)
    await store.write((tx) => queries.deleteExpiredSecrets(tx, nowMs))
    await queries.removeDeletedWebhooks(store)
    const left = await store.db
      .selectFrom('webhookSecrets')
      .select('secretId')
      .orderBy('secretId')
      .execute()
    const expected = ['new', 'old'].map((name) => ({ secretId: `${frozen.webhookId} ${name}` }))
    assertSameValues(left, expected)
    const webhooks = await store.db.selectFrom('webhooks').select('webhookId').execute()
    assertSameValues(webhooks, [{ webhookId: frozen.webhookId }])
  },
}
