import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { webhook as webhookCommands } from '../../src/cli/webhooks/commands.ts'
import { allEventTypes } from '../../src/store/webhooks/event-types.ts'
import { runJson } from '../support/cli/run-json.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { dropDatabase } from '../support/database/engine.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'

/** Adds completed deliveries of 1970 to a new webhook. */
async function addOldDeliveries(service: TestGallery, count: number): Promise<string> {
  const { project } = await service.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  const webhook = { projectId, url: 'https://198.51.100.1/old', events: allEventTypes }
  return service.database.store.write(async (tx) => {
    const created = await service.webhooks.create(tx, webhook, 1)
    assert.ok(created)
    const rows = Array.from({ length: count }, (_, number) => ({
      eventId: `event ${number}`,
      webhookId: created.webhookId,
      projectId,
      type: 'webhook.test',
      data: '{}',
      createdAtMs: 1,
      queuedAtMs: 1,
      state: 'delivered' as const,
    }))
    await tx.run(tx.build.insertInto('webhookDeliveries').values(rows))
    return created.webhookId
  })
}

test('A sweep deletes all old deliveries, also more than a transaction deletes', async () => {
  const dataDir = await createDataFolder()
  let key: string
  {
    await using service = await startGallery({ dataDir, environment: webhookSettings })
    await addOldDeliveries(service, 600)
    key = service.key
  }
  {
    await using service = await startGallery({ dataDir, key, environment: webhookSettings })
    const { store } = service.database
    const find = () =>
      store.read((tx) => tx.run(tx.build.selectFrom('webhookDeliveries').select('eventId')))
    while ((await find()).length > 0) await sleep(20)
  }
  await dropDatabase(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

test('A command that deletes a webhook also deletes its deliveries, without a sweep of the service', async () => {
  await using service = await startGallery({ environment: webhookSettings })
  const webhookId = await addOldDeliveries(service, 600)
  await runJson(service.dataDir, webhookCommands, `delete ${webhookId}`)
  const { db } = service.database.store
  for (const table of ['webhookDeliveries', 'webhooks'] as const) {
    const rows = await db.selectFrom(table).select('webhookId').execute()
    assert.deepEqual(rows, [], table)
  }
})
