import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { after, before, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { updateProject, type Project } from '../../src/store/tenancy/projects.ts'
import { findCalls } from '../support/find-calls.ts'
import { startConsole, type TestConsole } from '../support/console/test-console.ts'
import type { GalleryClient, TestGallery } from '../support/gallery/test-gallery.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'
import { openBody } from '../support/network/open-body.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const bodyMax = 4 * mebibyte
const waitMsMax = 60_000
const recognizePath = '/api/v1/recognition/recognize'

let testConsole: TestConsole
let gallery: TestGallery
before(async () => {
  testConsole = await startConsole({
    environment: {
      COMPREFACE_API: 'on',
      BODY_BYTES_MAX: String(bodyMax),
      BODIES_PER_PROJECT_BYTES_MAX: String(bodyMax),
      BODIES_PER_ACCOUNT_BYTES_MAX: String(bodyMax + 2 * mebibyte),
      BODIES_BYTES_MAX: String(2 * bodyMax),
      AUTH_FAILURES_PER_S: '10000',
      AUTH_FAILURES_BURST: '100000',
    },
    // An exhausted rate limit stays exhausted.
    wrapStore: createTestSteadyClock().wrapStore,
  })
  gallery = testConsole.gallery
  // The rate of an open body is checked only when a test advances the time.
  mock.timers.enable({ apis: ['setInterval'] })
})
after(async () => {
  mock.timers.reset()
  await testConsole[Symbol.asyncDispose]()
})

const createClient = (permissions: readonly string[] = ['*']) =>
  gallery.createProjectClient({ galleryMode: 'isolated', permissions })

/** Returns whether the budget rejects a body of this size. It is empty JSON, so it gets 400 if read. */
async function isRejected(client: GalleryClient, byteCount: number): Promise<boolean> {
  const { status, headers } = await client.post(Buffer.alloc(byteCount, ' '))
  if (status !== 503) assert.equal(status, 400)
  else assert.equal(headers.get('retry-after'), '1')
  return status === 503
}

test('Announced lengths reserve nothing: twelve open calls of two keys leave room for others', async () => {
  const first = await createClient()
  const second = gallery.withKey(await createSecondKey(first))
  const sockets = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      openBody({
        ...(index % 2 ? first : second),
        announcedBytes: bodyMax,
        sent: Buffer.from('{'),
      }),
    ),
  )
  await gallery.call('svc.detect', {}) // meanwhile the server receives the open calls
  const other = await createClient()
  assert.equal(await isRejected(other, bodyMax), false)
  assert.equal(await isRejected(first, bodyMax - 12), false)
  await closeCalls(...sockets)
})

/** Creates a second key of the client's project. */
async function createSecondKey({ project: { projectId } }: { readonly project: Project }) {
  const key = { projectId, name: 'second', permissions: ['*'], expiresAtUtc: null }
  return (await createKey(gallery.database.store.db, key, new Date())).key
}

/** Opens a call, of which the last byte is missing, and waits until the server has received it. */
async function openReserved(client: GalleryClient, byteCount: number): Promise<Socket> {
  const { reservedBytes } = gallery.bodyBudget.stats()
  const sent = Buffer.alloc(byteCount, ' ')
  const socket = await openBody({ ...client, announcedBytes: byteCount + 1, sent })
  await waitUntilReserved(reservedBytes + byteCount)
  return socket
}

/** Disconnects all open calls, and waits until they no longer count. */
async function closeCalls(...sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy()
  await waitUntilReserved(0)
}

async function waitUntilReserved(byteCount: number): Promise<void> {
  const endMs = performance.now() + waitMsMax
  while (gallery.bodyBudget.stats().reservedBytes !== byteCount) {
    assert.ok(performance.now() < endMs, `not ${byteCount} bytes are reserved`)
    await nextTurn()
  }
}

test('The bodies of one project are limited to the byte while they arrive', async () => {
  const client = await createClient()
  const socket = await openReserved(client, mebibyte)
  assert.equal(await isRejected(client, bodyMax - mebibyte), false)
  assert.equal(await isRejected(client, bodyMax - mebibyte + 1), true)
  const [row] = await findCalls(gallery.database.store.db, {
    projectId: client.project.projectId,
    limit: 1,
  })
  assert.equal(row?.code, 'HTTP_503')
  const other = await createClient()
  assert.equal(await isRejected(other, bodyMax), false, 'another project has its own share')
  await closeCalls(socket)
  assert.equal(await isRejected(client, bodyMax), false)
})

test('The bodies of one account are limited to the byte', async () => {
  const first = await createClient()
  const { accountId } = first.project
  const second = await gallery.createProjectClient({ galleryMode: 'isolated', accountId })
  const socket = await openReserved(first, bodyMax - 1)
  assert.equal(await isRejected(second, 2 * mebibyte + 1), false)
  assert.equal(await isRejected(second, 2 * mebibyte + 2), true)
  assert.equal(await isRejected(await createClient(), bodyMax), false, 'another account')
  await closeCalls(socket)
})

const checkMs = 1000
/** The bytes of five seconds at the default minimum rate. */
const windowBytes = 5 * 4096

test('A body that arrives at less than the minimum rate is rejected with 408, and its memory is released', async () => {
  const tick = (checks: number) => {
    for (let check = 0; check < checks; check++) mock.timers.tick(checkMs)
  }
  for (const byteCount of [windowBytes - 1, windowBytes]) {
    const client = await createClient()
    const socket = await openReserved(client, byteCount)
    const received = once(socket, 'data') as Promise<[Buffer]>
    tick(5)
    if (byteCount === windowBytes) {
      assert.equal(await isRejected(client, bodyMax), true, 'the body at the minimum rate is kept')
      tick(5)
    }
    assert.match(String((await received)[0]), /^HTTP\/1\.1 408 /u)
    assert.equal(await isRejected(client, bodyMax), false)
    await closeCalls(socket)
  }
})

test('All bodies together are limited to the byte', async () => {
  const [first, second, third] = [await createClient(), await createClient(), await createClient()]
  const sockets = [
    await openReserved(first, bodyMax - kibibyte),
    await openReserved(second, bodyMax - 1),
  ]
  assert.equal(await isRejected(third, kibibyte + 1), false)
  assert.equal(await isRejected(third, kibibyte + 2), true)
  await closeCalls(...sockets)
  assert.equal(await isRejected(third, bodyMax), false)
})

test('A body without a Content-Length is counted chunk by chunk', async () => {
  const client = await createClient()
  const socket = await openReserved(client, bodyMax - mebibyte)
  const send = async (byteCount: number) => {
    const bytes = new Uint8Array(byteCount).fill(0x20)
    return (await client.postStream(new Blob([bytes]).stream())).status
  }
  assert.equal(await send(mebibyte), 400)
  assert.equal(await send(mebibyte + 1), 503)
  assert.equal(await send(mebibyte), 400, 'a rejected body is released')
  await closeCalls(socket)
})

test('The routes of CompreFace use the same budget', async () => {
  const client = await createClient()
  const socket = await openReserved(client, bodyMax - 1)
  const image = new FormData()
  image.set('file', new Blob([new Uint8Array(kibibyte)]), 'face.jpg')
  const headers = { 'x-api-key': client.key }
  const url = gallery.url + recognizePath
  const response = await fetch(url, { method: 'POST', headers, body: image })
  assert.equal(response.status, 503)
  assert.equal(response.headers.get('retry-after'), '1')
  await closeCalls(socket)
})

/** Returns how many bytes the server reads of each request that is sent meanwhile. */
function countBytesRead(): Disposable & { readonly sockets: Set<Socket> } {
  const sockets = new Set<Socket>()
  const onRequest = (message: unknown): void => {
    sockets.add((message as { readonly request: IncomingMessage }).request.socket)
  }
  subscribe('http.server.request.start', onRequest)
  return {
    sockets,
    [Symbol.dispose]: () => void unsubscribe('http.server.request.start', onRequest),
  }
}

const chunkBytes = 64 * kibibyte
const discardMax = mebibyte

test('Of a body without a valid key, at most one mebibyte is read', async () => {
  for (const announced of [32 * mebibyte, 'chunked'] as const) {
    using counted = countBytesRead()
    const body = Buffer.alloc(32 * mebibyte, ' ')
    const start = announced === 'chunked' ? `${(32 * mebibyte).toString(16)}\r\n` : ''
    const socket = await openBody({
      url: gallery.url,
      key: 'fsk_live_wrong',
      announcedBytes: announced,
      sent: Buffer.concat([Buffer.from(start), body]),
    })
    let response = ''
    socket.on('data', (chunk) => (response += String(chunk)))
    await new Promise((resolve) => socket.once('close', resolve))
    assert.match(response, /^HTTP\/1\.1 401 /u)
    assert.match(response, /\r\nconnection: close\r\n/iu)
    const [serverSocket] = counted.sockets
    assert.ok(serverSocket)
    const { bytesRead } = serverSocket
    assert.ok(bytesRead >= discardMax, `${bytesRead} bytes were read`)
    // Two further chunks may wait in the connection.
    assert.ok(bytesRead <= discardMax + 4 * chunkBytes, `${bytesRead} bytes were read`)
  }
})

test('A key without the permission of a CompreFace route is rejected before its body is received', async () => {
  const client = await createClient(['svc.detect'])
  const response = await sendHead(client, recognizePath)
  assert.match(response, /^HTTP\/1\.1 403 /u)
  assert.match(response, /\r\nratelimit-remaining: \d+\r\n/u)
  const rows = await findCalls(gallery.database.store.db, {
    projectId: client.project.projectId,
    limit: 9,
  })
  assert.deepEqual(
    rows.map(({ action, code }) => `${action} ${code}`),
    ['svc.identify FORBIDDEN'],
  )
})

test('An exhausted rate limit rejects a CompreFace call before its body is received', async () => {
  const client = await createClient()
  const { projectId } = client.project
  const { db } = gallery.database.store
  await updateProject(db, projectId, { sustainedPerS: 1, burst: 1 })
  await client.call('svc.detect', {})
  const response = await sendHead(client, recognizePath)
  assert.match(response, /^HTTP\/1\.1 429 /u)
  assert.match(response, /\r\nretry-after: 1\r\n/u)
  const rows = await findCalls(db, { projectId, limit: 9 })
  assert.deepEqual(
    rows.map(({ action, code }) => `${action} ${code}`),
    ['svc.identify RATE_LIMITED', 'svc.detect INVALID_REQUEST'],
  )
})

/** Sends a call without its body. @returns the response: 408 if the server waits for the body. */
async function sendHead(client: GalleryClient, path: string): Promise<string> {
  const socket = await openBody({ ...client, path, announcedBytes: 'chunked', sent: Buffer.of() })
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return String(chunk)
}

test('The console limits anonymous requests to 8 KiB', async () => {
  const post = async (byteCount: number): Promise<number> => {
    const response = await fetch(`${gallery.url}/console/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: gallery.url },
      body: Buffer.alloc(byteCount, ' '),
    })
    return response.status
  }
  assert.equal(await post(8 * kibibyte), 400)
  assert.equal(await post(8 * kibibyte + 1), 413)
})

test('A playground call counts twice: as the request of a user and as a call of the project', async () => {
  const { owner, projectId } = testConsole
  const run = (byteCount: number) =>
    owner.send('POST', '/playground', {
      projectId,
      call: { action: 'svc.detect', params: { text: ' '.repeat(byteCount) } },
    })
  const other = await createClient()
  const socket = await openReserved(other, 3 * mebibyte)
  assert.equal((await run(2 * mebibyte)).body.status, 200)
  assert.equal((await run(3 * mebibyte)).body.status, 503)
  await closeCalls(socket)
})
