import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { networkOf } from '../../src/lib/limits/client-network.ts'
import {
  createConnectionStats,
  type ConnectionStats,
} from '../../src/http/connections/connection-stats.ts'
import type { Route } from '../../src/http/route.ts'
import { createHttpServer, type HttpServerOptions } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { openRawClient, rawGet, type RawClient } from '../support/network/raw-client.ts'
import { serverLimits } from '../support/network/server-limits.ts'

const chunk = Buffer.alloc(64 * 1024, 'a')
const largeBytes = 64 * 1024 * 1024
const large = Buffer.alloc(largeBytes, 'a')

/** The number of rows that a stream of the route `/rows` has produced, and whether it ended. */
type RowCount = { count: number; isEnded: boolean }

const streams: RowCount[] = []

async function* endlessRows(): AsyncGenerator<Buffer> {
  const rows = { count: 0, isEnded: false }
  streams.push(rows)
  try {
    for (;;) {
      rows.count++
      yield chunk
      await sleep(0)
    }
  } finally {
    rows.isEnded = true
  }
}

const routes: readonly Route[] = [
  { method: 'GET', path: '/small', handle: () => ({ status: 200, body: '<small>' }) },
  { method: 'GET', path: '/large', handle: () => ({ status: 200, body: large }) },
  {
    method: 'GET',
    path: '/rows',
    handle: () => ({ status: 200, body: Readable.from(endlessRows()) }),
  },
]

type TestServer = AsyncDisposable & { readonly url: string; readonly stats: ConnectionStats }

async function serve(limits: Partial<HttpServerOptions>): Promise<TestServer> {
  const stats = createConnectionStats()
  const server = createHttpServer({
    routes,
    ...serverLimits,
    connectionStats: stats,
    log: createLog('silent'),
    ...limits,
  })
  const url = await server.listen('127.0.0.1', 0)
  return { url, stats, [Symbol.asyncDispose]: () => server.close() }
}

const waitMsMax = 60_000

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + waitMsMax
  while (!isTrue()) {
    assert.ok(performance.now() < deadlineMs, 'the condition was not met in a minute')
    await sleep(10)
  }
}

/** Opens a connection that requests a path and reads nothing. */
async function openStalledClient(url: string, path: string): Promise<RawClient> {
  const client = await openRawClient(url)
  client.socket.pause()
  client.send(rawGet(path))
  return client
}

const readSmall = async (url: string): Promise<string> => {
  const client = await openRawClient(url)
  client.send(rawGet('/small', 'Connection: close\r\n'))
  return client.readToEnd()
}

test('Connections that never read are closed after the write timeout, and their places become free', async () => {
  await using server = await serve({ connectionsMax: 8, writeMsMax: 400 })
  const clients: RawClient[] = []
  const counted = (): Promise<void> =>
    waitUntil(() => {
      const { open, closed } = server.stats.read()
      return open + (closed.get('write_timeout') ?? 0) === clients.length
    })
  let isRejected: boolean
  do {
    // On a slow machine the first connections are closed before the last is open.
    while (server.stats.read().open < 8) {
      clients.push(await openStalledClient(server.url, clients.length % 2 ? '/rows' : '/large'))
      await counted()
    }
    // While all connections are in use, another one is closed.
    isRejected = (await readSmall(server.url)) === ''
    await counted()
  } while (!isRejected)
  assert.equal(server.stats.read().closed.get('connections_max'), 1)
  await waitUntil(() => server.stats.read().closed.get('write_timeout') === clients.length)
  assert.match(await readSmall(server.url), /<small>$/u)
  await waitUntil(() => server.stats.read().open === 0)
  for (const { socket } of clients) socket.destroy()
})

test('A stream stops and ends when its client does not read', async () => {
  await using server = await serve({ writeMsMax: 400 })
  const client = await openStalledClient(server.url, '/rows')
  await waitUntil(() => server.stats.read().closed.get('write_timeout') === 1)
  const rows = streams.at(-1)
  await waitUntil(() => rows?.isEnded === true)
  // The buffers of the operating system take some megabytes, the server at most a few rows.
  assert.ok(rows && rows.count < 500, `${rows?.count} rows of 64 KiB were read`)
  client.socket.destroy()
})

/** More than the buffers of the operating system take in the checks of one write timeout. */
const bytesPerCheck = 5 * 1024 * 1024

test('A client that reads slowly receives the whole response, even if it takes longer than the write timeout', async (t) => {
  const writeMsMax = 1500
  // The server checks its connections four times in this time, here after bytes instead.
  const checkMs = writeMsMax / 4
  t.mock.timers.enable({ apis: ['setInterval'] })
  await using server = await serve({ writeMsMax })
  const client = await openStalledClient(server.url, '/large')
  let receivedBytes = 0
  let checks = 0
  for await (const { length } of client.socket as AsyncIterable<Buffer>) {
    receivedBytes += length
    for (; (checks + 1) * bytesPerCheck < receivedBytes; checks++) t.mock.timers.tick(checkMs)
    if (receivedBytes > largeBytes) break
  }
  assert.ok(checks * checkMs > 2 * writeMsMax, `${checks} checks`)
  assert.ok(receivedBytes > largeBytes)
  assert.equal(server.stats.read().closed.get('write_timeout'), 0)
})

test('A client that sends without reading is closed like one that is silent', async () => {
  await using server = await serve({ writeMsMax: 400 })
  const client = await openStalledClient(server.url, '/large')
  const sending = setInterval(() => client.send('G'), 50)
  await waitUntil(() => server.stats.read().closed.get('write_timeout') === 1)
  clearInterval(sending)
  client.socket.destroy()
})

test('A rejected client that does not close its connection is closed', async () => {
  await using server = await serve({ writeMsMax: 400 })
  const client = await openRawClient(server.url)
  client.socket.allowHalfOpen = true
  client.send('malformed\r\n\r\n')
  await client.readUntil((text) => text.includes('}'))
  await waitUntil(() => server.stats.read().open === 0)
  client.socket.destroy()
})

test('An address has the maximum number of connections, not one more', async () => {
  await using server = await serve({ connectionsPerAddressMax: 3 })
  const clients = [1, 2, 3].map(() => openRawClient(server.url))
  for (const client of await Promise.all(clients)) {
    client.send(rawGet('/small'))
    await client.readUntil((text) => text.includes('<small>'))
  }
  assert.equal(await readSmall(server.url), '')
  assert.equal(server.stats.read().closed.get('connections_per_address_max'), 1)
  await waitUntil(() => server.stats.read().open === 3)
  const [first] = await Promise.all(clients)
  first?.socket.destroy()
  await waitUntil(() => server.stats.read().open === 2)
  assert.match(await readSmall(server.url), /<small>$/u)
  for (const { socket } of await Promise.all(clients)) socket.destroy()
})

test('Behind a trusted proxy, the connections of an address are not limited', async () => {
  await using server = await serve({ connectionsPerAddressMax: 1, proxies: 1 })
  const held = await openRawClient(server.url)
  assert.match(await readSmall(server.url), /<small>$/u)
  held.socket.destroy()
})

test('Connections are counted by IPv4 address and by IPv6 network', () => {
  const expected: Readonly<Record<string, string>> = {
    '192.0.2.7': '192.0.2.7',
    '::ffff:192.0.2.7': '192.0.2.7',
    '::1': '0:0:0:0::/64',
    '2001:db8:0:12:1:2:3:4': '2001:db8:0:12::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:db8:1:2:3::': '2001:db8:1:2::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
  }
  for (const [address, counted] of Object.entries(expected))
    assert.equal(networkOf(address), counted, address)
})

test('The time for a whole request may be shorter than that for its headers', async () => {
  await using server = await serve({ headersMsMax: 10_000, requestMsMax: 9999 })
  assert.equal((await fetch(`${server.url}/small`)).status, 200)
})
