import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createClient } from '../../client/src/index.ts'

test('The deletion of a group is retried after the status 429 only', async (t) => {
  const statuses = [429, 200, 503, 502]
  const server = createServer((_request, response) => {
    const headers = { 'content-type': 'application/json', 'retry-after': '0' }
    response.writeHead(statuses.shift() ?? 500, headers).end('{"deletedCount":0}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k' })
  assert.equal((await client.groups.delete('staff')).deletedCount, 0)
  for (const status of [503, 502]) await assert.rejects(client.groups.delete('staff'), { status })
  assert.deepEqual(statuses, [])
})
