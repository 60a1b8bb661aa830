import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { makeLink } from '../../src/console/setup.ts'
import { browserAt, goodPassword, ok } from '../console.ts'
import { clientOf } from '../facegate.ts'
import { images } from '../gallery.ts'
import { startGalleries } from '../nodes.ts'
import { postgresMissing } from '../postgres.ts'

const skip = postgresMissing ?? false
const perS = 200

type Answered = {
  readonly sentMs: number
  readonly answeredMs: number
  readonly node: number
  readonly status: number
}

test(
  `a key revoked by one node is refused by both from the revocation's answer on, at ${perS} calls a second`,
  {
    skip,
  },
  async () => {
    await using nodes = await startGalleries()
    const { a, b, inside } = nodes
    const token = await inside.books.store.write((tx) => makeLink(tx, null, Date.now()))
    const owner = browserAt(a.client.url)
    ok(await owner.send('POST', '/setup', { token, name: 'Olga', password: goodPassword }))
    const projectId = ok(await owner.get('/projects')).body.items[0].projectId
    for (const turn of [1, 2, 3]) {
      const minted = { projectId, name: `key ${turn}`, permissions: ['*'] }
      const { key, keyId } = ok(await owner.send('POST', '/keys', minted)).body
      const clients = [a, b].map(({ client }) => clientOf(client.url, key))
      let [askedMs, revokedMs] = [Infinity, Infinity]
      const calls: Promise<Answered>[] = []
      const revoke = async (): Promise<void> => {
        await sleep(500)
        await calls[0]
        askedMs = performance.now()
        ok(await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: minted.name }))
        revokedMs = performance.now()
      }
      const revoking = revoke()
      const startMs = performance.now()
      while (performance.now() < revokedMs + 500) {
        await sleep(Math.max(0, startMs + (calls.length * 1000) / perS - performance.now()))
        const node = calls.length % 2
        const sentMs = performance.now()
        const body = { action: 'svc.detect', params: images(`call ${calls.length}`) }
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
