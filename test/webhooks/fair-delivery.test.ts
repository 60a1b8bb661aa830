import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { accept, startWebhookReceiver } from '../support/webhooks/webhook-receiver.ts'
import { webhookSettings } from '../support/webhooks/webhook-settings.ts'

/** Creates an account with webhooks at these addresses, each with events to send. */
async function createWebhooks(gallery: TestGallery, urls: readonly string[], eventCount: number) {
  const { database, webhooks } = gallery
  const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  await database.store.write(async (tx) => {
    for (const url of urls) {
      const settings = { projectId, url, events: ['budget.low'] as const }
      const created = await webhooks.create(tx, settings, Date.now())
      assert.ok(created)
      const { webhookId } = created
      for (let event = 0; event < eventCount; event++)
        await webhooks.sendTest(tx, { webhookId, projectId }, Date.now())
    }
  })
}

test('Receivers of three accounts that do not respond do not delay the events of another account', async () => {
  await using receiver = await startWebhookReceiver()
  const held: ServerResponse[] = []
  receiver.respond((response, request) => {
    if (request.path.startsWith('/slow')) held.push(response)
    else accept(response, request)
  })
  await using gallery = await startGallery({
    environment: { ...webhookSettings, WEBHOOK_CONCURRENCY: '2', WEBHOOK_TIMEOUT_MS: '60000' },
  })
  for (const account of ['a', 'b', 'c']) {
    const slow = [1, 2, 3, 4].map((number) => `/slow-${account}-${number}`)
    await createWebhooks(
      gallery,
      slow.map((name) => receiver.url + name),
      3,
    )
    await receiver.waitFor(({ path }) => path.startsWith(`/slow-${account}`), 3)
  }
  await createWebhooks(gallery, [`${receiver.url}/other`], 1)
  await receiver.waitFor(({ path }) => path === '/other')
  assert.ok(held.length > 0, 'the slow receivers have not responded')
  for (const response of held) response.end()
})

test('Names of one account without a response of the name server do not delay the events of another account', async (t) => {
  await using receiver = await startWebhookReceiver()
  const nameServer = replaceNameServer(t)
  await using gallery = await startGallery({
    environment: { ...webhookSettings, WEBHOOK_CONCURRENCY: '4', WEBHOOK_TIMEOUT_MS: '60000' },
  })
  const { port } = new URL(receiver.url)
  await createWebhooks(
    gallery,
    [`http://silent-1.invalid:${port}`, `http://silent-2.invalid:${port}`],
    4,
  )
  await nameServer.waitForSilent
  await createWebhooks(gallery, [`http://other.invalid:${port}/other`], 1)
  await receiver.waitFor(({ path }) => path === '/other')
  nameServer.end()
})

/** The threads that resolve names. */
const threads = 2

/** Resolves two names at a time, as Node does; a name with `silent` has no response until the end. */
function replaceNameServer(t: TestContext) {
  const silent = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let runningCount = 0
  const lookup = async (name: string) => {
    if (runningCount === threads) await ended.promise
    runningCount += 1
    if (name.startsWith('silent')) {
      silent.resolve()
      await ended.promise
    }
    runningCount -= 1
    return [{ address: '127.0.0.1', family: 4 }]
  }
  t.mock.method(dns, 'lookup', lookup)
  return { waitForSilent: silent.promise, end: ended.resolve }
}
