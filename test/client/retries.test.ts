import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { createClient, FacegateError, type ClientEvent } from '../../client/src/index.ts'
import { findCalls } from '../support/find-calls.ts'
import {
  openDisconnectingProxy,
  type DisconnectPoint,
} from '../support/network/disconnecting-proxy.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const imageOf = (...people: readonly (FakePerson | string)[]) => ({
  bytes: fakeImage(...people).bytes,
  contentType: 'image/jpeg' as const,
})

const disconnectPoints: readonly DisconnectPoint[] = [
  'beforeRequest',
  'duringRequest',
  'beforeResponse',
  'duringResponse',
  'afterResponse',
]

const callCount = 300

test(`${callCount} calls over a connection that breaks for every tenth request have one result and one charge each`, async (t) => {
  const { key, project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  let nextPoint = 0
  await using proxy = await openDisconnectingProxy(gallery.url, (request) =>
    request % 10 === 9 ? disconnectPoints[nextPoint++ % disconnectPoints.length] : undefined,
  )
  // Eight failed attempts of one call would occur in one of 100,000 runs of this test.
  const client = createClient({ baseUrl: proxy.url, apiKey: key, attemptsMax: 8 })
  const remaining = Array.from({ length: callCount }, (_, index) => `guest ${index}`)
  const requestIds: string[] = []
  const sendRemaining = async (): Promise<void> => {
    for (let name = remaining.pop(); name !== undefined; name = remaining.pop()) {
      // Every tenth call enrolls a subject, which must also happen only once.
      const isEnrollment = remaining.length % 10 === 0
      const outcome = isEnrollment
        ? await client.try.enroll(imageOf(name), { externalId: name })
        : await client.try.detect(imageOf(name))
      assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message)
      requestIds.push(outcome.requestId)
    }
  }
  await Promise.all(Array.from({ length: 16 }, sendRemaining))
  const { projectId } = project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 100_000 })
  const charged = rows.filter((row) => row.transferId !== null)
  assert.equal(new Set(requestIds).size, callCount)
  assert.deepEqual(charged.map((row) => row.requestId).toSorted(), requestIds.toSorted())
  const subjects: unknown[] = []
  for await (const { externalId } of client.subjects.list({ limit: 10 })) subjects.push(externalId)
  assert.deepEqual([subjects.length, new Set(subjects).size], [callCount / 10, callCount / 10])
  for (const point of disconnectPoints)
    assert.ok(proxy.disconnectCounts()[point] >= 4, JSON.stringify(proxy.disconnectCounts()))
  assert.ok(
    rows.some((row) => row.isReplay),
    'some responses were lost and returned again as replays',
  )
  const replays = rows.filter((row) => row.isReplay).length
  t.diagnostic(
    `${proxy.requestCount()} requests, broken connections: ${JSON.stringify(proxy.disconnectCounts())}; ${replays} replays`,
  )
  await assertLedgerAudit(gallery)
})

/** Starts a server that returns the responses of a script, one for each request. */
async function openScriptedServer(...responses: readonly ScriptedResponse[]) {
  const requests: { readonly atMs: number; readonly requestId: unknown }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const requestId: unknown = text && JSON.parse(text).requestId
      const scripted = responses[requests.length] ?? responses.at(-1)
      requests.push({ atMs: performance.now(), requestId })
      if (!scripted) return
      const { status, headers, type = 'application/json; charset=utf-8', body } = scripted
      response.writeHead(status, { 'content-type': type, ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type ScriptedResponse = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly type?: string
  readonly body: unknown
}

const failureBody = (code: string) => ({
  ok: false,
  requestId: randomUUID(),
  action: 'svc.detect',
  data: null,
  errors: [{ code, message: 'no' }],
})

const detectBody = {
  ok: true,
  requestId: randomUUID(),
  action: 'svc.detect',
  data: { results: [{ index: 0, correlationId: 'auto-0', ok: true, value: { faceCount: 0 } }] },
  errors: [],
}

test('RATE_LIMITED, 429, 503 and failures of a proxy are retried with the same request id', async () => {
  await using server = await openScriptedServer(
    { status: 200, body: failureBody('RATE_LIMITED') },
    { status: 429, body: { detail: 'slow down' } },
    { status: 503, body: { detail: 'busy' } },
    { status: 502, type: 'text/html', body: '<html>bad gateway</html>' },
    { status: 200, body: '{"ok":true,"requ' },
    { status: 200, body: detectBody },
  )
  const client = createClient({ baseUrl: server.url, apiKey: 'k', attemptsMax: 6 })
  assert.equal((await client.detect(imageOf('A'))).faceCount, 0)
  assert.equal(server.requests.length, 6)
  assert.equal(new Set(server.requests.map(({ requestId }) => requestId)).size, 1)
})

test('Permanent failures are not retried', async () => {
  for (const [response, code] of [
    [{ status: 200, body: failureBody('NO_FACE_FOUND') }, 'NO_FACE_FOUND'],
    [{ status: 200, body: failureBody('PAYMENT_REQUIRED') }, 'PAYMENT_REQUIRED'],
    [{ status: 400, body: { detail: 'no' } }, 'INVALID_REQUEST'],
    [{ status: 401, body: { detail: 'no' } }, 'UNAUTHORIZED'],
    [{ status: 413, body: { detail: 'no' } }, 'PAYLOAD_TOO_LARGE'],
    [{ status: 404, body: { detail: 'No such route.' } }, 'HTTP_404'],
    [{ status: 200, type: 'text/html', body: '<html>' }, 'BAD_RESPONSE'],
    [{ status: 200, body: { ok: 'yes' } }, 'BAD_RESPONSE'],
    [{ status: 500, body: { detail: 'no' } }, 'HTTP_500'],
    [{ status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: {} }, 'HTTP_307'],
  ] as const) {
    await using server = await openScriptedServer(response)
    const client = createClient({ baseUrl: server.url, apiKey: 'k' })
    await assert.rejects(client.detect(imageOf('A')), { name: 'FacegateError', code })
    assert.equal(server.requests.length, 1, code)
  }
})

test('The client waits for Retry-After, in seconds or as a date', async () => {
  const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString()
  await using server = await openScriptedServer(
    { status: 503, headers: { 'retry-after': '1' }, body: { detail: 'busy' } },
    { status: 503, headers: { 'retry-after': date }, body: { detail: 'busy' } },
    { status: 200, body: detectBody },
  )
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => void events.push(event)
  const client = createClient({ baseUrl: server.url, apiKey: 'k', onEvent })
  await client.detect(imageOf('A'))
  const [first, second] = server.requests
  assert.ok(first && second)
  // Timers may fire up to a millisecond early.
  assert.ok(second.atMs - first.atMs >= 999, `${second.atMs - first.atMs} ms`)
  assert.ok(Date.now() >= Date.parse(date), 'the date has passed')
  assert.deepEqual(
    events.map(({ outcome, attempt, status }) => ({ outcome, attempt, status })),
    [
      { outcome: 'retrying', attempt: 1, status: 503 },
      { outcome: 'retrying', attempt: 2, status: 503 },
      { outcome: 'succeeded', attempt: 3, status: 200 },
    ],
  )
})

test('The call fails at once if the wait, at most one day, would exceed its time limit', async () => {
  const headers = ['60', '9'.repeat(400)].map((wait) => ({ 'retry-after': wait }))
  const replies = headers.map((sent) => ({ status: 503, headers: sent, body: { detail: 'busy' } }))
  await using server = await openScriptedServer(...replies)
  const client = createClient({ baseUrl: server.url, apiKey: 'k', callMsMax: 30_000 })
  await assert.rejects(client.detect(imageOf('A')), { code: 'HTTP_503', retryAfterMs: 60_000 })
  await assert.rejects(client.detect(imageOf('A')), { retryAfterMs: 86_400_000 })
  assert.equal(server.requests.length, 2)
})

test('The number of attempts is limited, and the error is that of the last attempt', async () => {
  await using server = await openScriptedServer({ status: 200, body: failureBody('RATE_LIMITED') })
  const client = createClient({ baseUrl: server.url, apiKey: 'k', attemptsMax: 3 })
  const outcome = await client.try.detect(imageOf('A'))
  assert.ok(!outcome.ok)
  assert.equal(outcome.error.code, 'RATE_LIMITED')
  assert.equal(server.requests.length, 3)
  await client.try.detect(imageOf('A'), {}, { attemptsMax: 1 })
  assert.equal(server.requests.length, 4)
})

test('Attempts without a response end in TIMED_OUT, attempts without a connection in CONNECTION_FAILED', async () => {
  await using server = await openScriptedServer()
  const attempts: unknown[] = []
  const onEvent = ({ attempt, code }: ClientEvent): void => void attempts.push([attempt, code])
  const limits = { attemptMsMax: 30, attemptsMax: 2 }
  const client = createClient({ baseUrl: server.url, apiKey: 'k', onEvent, ...limits })
  await assert.rejects(client.detect(imageOf('A')), { code: 'TIMED_OUT' })
  assert.deepEqual(attempts, [
    [1, 'TIMED_OUT'],
    [2, 'TIMED_OUT'],
  ])
  const offlineClient = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', attemptsMax: 2 })
  const failure = await offlineClient.detect(imageOf('A')).catch((error: unknown) => error)
  assert.ok(failure instanceof FacegateError)
  assert.equal(failure.code, 'CONNECTION_FAILED')
  assert.match(failure.requestId ?? '', /^[0-9a-f-]{36}$/u)
})

test('An abort ends a call immediately, before, during and between attempts, with its reason', async () => {
  await using silentServer = await openScriptedServer()
  const client = createClient({ baseUrl: silentServer.url, apiKey: 'k' })
  const reason = new Error('the page was closed')
  const aborted = AbortSignal.abort(reason)
  await assert.rejects(client.detect(imageOf('A'), {}, { signal: aborted }), reason)
  assert.equal(silentServer.requests.length, 0)
  const during = new AbortController()
  const running = client.try.detect(imageOf('A'), {}, { signal: during.signal })
  setTimeout(() => during.abort(reason), 30)
  await assert.rejects(running, reason)

  const wait = { status: 503, headers: { 'retry-after': '50' }, body: { detail: 'busy' } }
  await using busyServer = await openScriptedServer(wait)
  const between = new AbortController()
  const onEvent = (): void => between.abort(reason)
  const waiting = createClient({ baseUrl: busyServer.url, apiKey: 'k', onEvent })
  await assert.rejects(waiting.detect(imageOf('A'), {}, { signal: between.signal }), reason)
})

test('After a broken connection a read is retried, but the deletion of a group is not', async () => {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await using proxy = await openDisconnectingProxy(gallery.url, (request) =>
    request % 2 === 1 ? 'beforeResponse' : undefined,
  )
  const client = createClient({ baseUrl: proxy.url, apiKey: key })
  await client.enroll(imageOf('A'), { groups: ['staff'] })
  await assert.rejects(client.groups.delete('staff'), { code: 'CONNECTION_FAILED' })
  assert.equal(proxy.requestCount(), 2)
  await client.groups.page()
  assert.deepEqual(await Array.fromAsync(client.groups.list()), [])
  assert.equal(proxy.requestCount(), 5)
})

test('Errors and events contain neither the key nor an image', async () => {
  const key = 'fsk_live_secret'
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => {
    events.push(event)
    throw new Error('the log is full')
  }
  const errors: unknown[] = []
  for (const baseUrl of [gallery.url, 'http://127.0.0.1:1']) {
    const client = createClient({ baseUrl, apiKey: key, onEvent, attemptsMax: 1 })
    const outcome = await client.try.detect({
      bytes: 'c2VjcmV0IHBpY3R1cmU=',
      contentType: 'image/png',
    })
    assert.ok(!outcome.ok)
    errors.push(outcome.error, outcome.error.cause, outcome.error.stack, client)
  }
  assert.equal(events.length, 2)
  const text = inspect([errors, events], { depth: 10 })
  assert.ok(!text.includes('secret') && !text.includes('c2Vj'), text)
  for (const apiKey of ['', 'fsk_live_secret\n', 'a b']) {
    const create = () => createClient({ baseUrl: gallery.url, apiKey })
    assert.throws(
      create,
      (error: Error) => /apiKey/u.test(error.message) && !/secret/u.test(error.message),
    )
  }
})
