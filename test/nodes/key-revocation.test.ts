import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { createConsoleClient, validPassword, assertOk } from '../support/console/test-console.ts'
import { createTestClient, type TestClient } from '../support/facegate/test-client.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { sharedGalleryNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const skip = postgresSkipReason ?? false
/** The nodes receive that many calls at a time, so that a slow machine is not flooded. */
const sendersPerNode = 8
const earlierCalls = 100
/** The calls of each sender after the revocation. */
const laterCalls = 6

after(closeSharedServices)

type TimedResponse = {
  readonly sentMs: number
  readonly receivedMs: number
  readonly node: number
  readonly status: number
}

test(
  'Both nodes reject a key as soon as one node has revoked it, under load',
  { skip },
  async () => {
    const nodes = await sharedGalleryNodes()
    const { a, b, local } = nodes
    const token = await local.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
    const owner = createConsoleClient(a.client.url)
    assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
    const projectId = assertOk(await owner.get('/projects')).body.items[0].projectId
    for (const round of [1, 2]) {
      const newKey = { projectId, name: `key ${round}`, permissions: ['*'] }
      const { key, keyId } = assertOk(await owner.send('POST', '/keys', newKey)).body
      const clients = [a, b].map(({ client }) => createTestClient(client.url, key))
      let [revokeSentMs, revokedMs] = [Infinity, Infinity]
      const responses: TimedResponse[] = []
      /** Sends calls one after another, some of them after the revocation. */
      const sendCalls = async (client: TestClient, node: number): Promise<void> => {
        for (let later = 0; later < laterCalls;) {
          const sentMs = performance.now()
          if (sentMs > revokedMs) later++
          const body = { action: 'svc.detect', params: imageParams(`call ${responses.length}`) }
          const { status } = await client.post(body)
          responses.push({ sentMs, receivedMs: performance.now(), node, status })
        }
      }
      const sending = clients.flatMap((client, node) =>
        Array.from({ length: sendersPerNode }, () => sendCalls(client, node)),
      )
      while (responses.length < earlierCalls) await sleep(10)
      revokeSentMs = performance.now()
      assertOk(await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: newKey.name }))
      revokedMs = performance.now()
      await Promise.all(sending)
      const later = responses.filter(({ sentMs }) => sentMs > revokedMs)
      assert.deepEqual(new Set(later.map(({ status }) => status)), new Set([401]))
      assert.deepEqual(new Set(later.map(({ node }) => node)), new Set([0, 1]))
      const earlier = responses.filter(({ receivedMs }) => receivedMs < revokeSentMs)
      assert.deepEqual(new Set(earlier.map(({ status }) => status)), new Set([200]))
    }
  },
)
