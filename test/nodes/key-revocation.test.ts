import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { createConsoleClient, validPassword, assertOk } from '../support/console/test-console.ts'
import { createTestClient } from '../support/facegate/test-facegate.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { sharedGalleryNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const callsPerS = 200

after(closeSharedServices)

type TimedResponse = {
  readonly sentMs: number
  readonly receivedMs: number
  readonly node: number
  readonly status: number
}

test(
  `Both nodes reject a key as soon as one node has revoked it, at ${callsPerS} calls a second`,
  {
    skip,
  },
  async () => {
    const nodes = await sharedGalleryNodes()
    const { a, b, local } = nodes
    const token = await local.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
    const owner = createConsoleClient(a.client.url)
    assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
    const projectId = assertOk(await owner.get('/projects')).body.items[0].projectId
    for (const round of [1, 2, 3]) {
      const newKey = { projectId, name: `key ${round}`, permissions: ['*'] }
      const { key, keyId } = assertOk(await owner.send('POST', '/keys', newKey)).body
      const clients = [a, b].map(({ client }) => createTestClient(client.url, key))
      let [revokeSentMs, revokedMs] = [Infinity, Infinity]
      const calls: Promise<TimedResponse>[] = []
      const revoke = async (): Promise<void> => {
        await sleep(500)
        await calls[0]
        revokeSentMs = performance.now()
        assertOk(await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: newKey.name }))
        revokedMs = performance.now()
      }
      const revoking = revoke()
      const startMs = performance.now()
      // Each node gets calls after the revocation, however slow the machine is.
      for (let later = 0; later < callsPerS / 2; later += performance.now() > revokedMs ? 1 : 0) {
        await sleep(Math.max(0, startMs + (calls.length * 1000) / callsPerS - performance.now()))
        const node = calls.length % 2
        const sentMs = performance.now()
        const body = { action: 'svc.detect', params: imageParams(`call ${calls.length}`) }
        calls.push(
          (clients[node] ?? local)
            .post(body)
            .then(({ status }) => ({ sentMs, receivedMs: performance.now(), node, status })),
        )
      }
      await revoking
      const responses = await Promise.all(calls)
      const later = responses.filter(({ sentMs }) => sentMs > revokedMs)
      assert.deepEqual(new Set(later.map(({ status }) => status)), new Set([401]))
      assert.deepEqual(new Set(later.map(({ node }) => node)), new Set([0, 1]))
      const earlier = responses.filter(({ receivedMs }) => receivedMs < revokeSentMs)
      assert.deepEqual(new Set(earlier.map(({ status }) => status)), new Set([200]))
    }
  },
)
