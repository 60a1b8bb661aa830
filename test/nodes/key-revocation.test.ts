import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { createConsoleClient, validPassword, assertOk } from '../support/console/test-console.ts'
import { createTestClient } from '../support/facegate/test-facegate.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { startGalleryNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const callsPerS = 200

type TimedResponse = {
  readonly sentMs: number
  readonly answeredMs: number
  readonly node: number
  readonly status: number
}

test(
  `a key revoked by one node is refused by both from the revocation's answer on, at ${callsPerS} calls a second`,
  {
    skip,
  },
  async () => {
    await using nodes = await startGalleryNodes()
    const { a, b, local: inside } = nodes
    const token = await inside.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
    const owner = createConsoleClient(a.client.url)
    assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
    const projectId = assertOk(await owner.get('/projects')).body.items[0].projectId
    for (const turn of [1, 2, 3]) {
      const minted = { projectId, name: `key ${turn}`, permissions: ['*'] }
      const { key, keyId } = assertOk(await owner.send('POST', '/keys', minted)).body
      const clients = [a, b].map(({ client }) => createTestClient(client.url, key))
      let [askedMs, revokedMs] = [Infinity, Infinity]
      const calls: Promise<TimedResponse>[] = []
      const revoke = async (): Promise<void> => {
        await sleep(500)
        await calls[0]
        askedMs = performance.now()
        assertOk(await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: minted.name }))
        revokedMs = performance.now()
      }
      const revoking = revoke()
      const startMs = performance.now()
      while (performance.now() < revokedMs + 500) {
        await sleep(Math.max(0, startMs + (calls.length * 1000) / callsPerS - performance.now()))
        const node = calls.length % 2
        const sentMs = performance.now()
        const body = { action: 'svc.detect', params: imageParams(`call ${calls.length}`) }
        calls.push(
          (clients[node] ?? inside)
            .post(body)
            .then(({ status }) => ({ sentMs, answeredMs: performance.now(), node, status })),
        )
      }
      await revoking
      const answers = await Promise.all(calls)
      const later = answers.filter(({ sentMs }) => sentMs > revokedMs)
      assert.deepEqual(new Set(later.map(({ status }) => status)), new Set([401]))
      assert.deepEqual(new Set(later.map(({ node }) => node)), new Set([0, 1]))
      const earlier = answers.filter(({ answeredMs }) => answeredMs < askedMs)
      assert.deepEqual(new Set(earlier.map(({ status }) => status)), new Set([200]))
    }
  },
)
