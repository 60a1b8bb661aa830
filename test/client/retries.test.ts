import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { createClient, FacegateError, type ClientEvent } from '../../client/src/index.ts'
import { retryDelayMs } from '../../client/src/http/send-with-retries.ts'
import { findCalls } from '../../src/store/gate/calls.ts'
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

test('1,000 calls through a line that cuts every tenth: 1,000 results, 1,000 charges', async (t) => {
  const { key, project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  let next = 0
  await using line = await openDisconnectingProxy(gallery.url, (request) =>
    request % 10 === 9 ? disconnectPoints[next++ % disconnectPoints.length] : undefined,
  )
  // Eight cuts in a row would be one run in a hundred thousand.
  const client = createClient({ baseUrl: line.url, apiKey: key, attemptsMax: 8 })
  const left = Array.from({ length: 1000 }, (_, at) => `guest ${at}`)
  const answers: string[] = []
  const work = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      // One in ten remembers somebody: that, too, must be done once.
      const isGuest = left.length % 10 === 0
      const answer = isGuest
        ? await client.try.enroll(imageOf(name), { externalId: name })
        : await client.try.detect(imageOf(name))
      assert.ok(answer.ok, answer.ok ? '' : answer.error.message)
      answers.push(answer.requestId)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  const { projectId } = project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 100_000 })
  const charged = rows.filter((row) => row.transferId !== null)
  assert.equal(new Set(answers).size, 1000)
  assert.deepEqual(charged.map((row) => row.requestId).toSorted(), answers.toSorted())
  const subjects: unknown[] = []
  for await (const { externalId } of client.subjects.list({ limit: 30 })) subjects.push(externalId)
  assert.equal(subjects.length, 100)
  assert.equal(new Set(subjects).size, 100)
  for (const moment of disconnectPoints)
    assert.ok(line.disconnectCounts()[moment] >= 15, JSON.stringify(line.disconnectCounts()))
  assert.ok(
    rows.some((row) => row.isReplay),
    'some answers were lost and said again',
  )
  const replays = rows.filter((row) => row.isReplay).length
  t.diagnostic(
    `${line.requestCount()} requests, cut: ${JSON.stringify(line.disconnectCounts())}; ${replays} replays`,
  )
  await assertLedgerAudit(gallery)
})

/** A service that says what the test tells it, one answer a request. */
async function openScriptedServer(...lines: readonly ScriptedResponse[]) {
  const heard: { readonly atMs: number; readonly requestId: unknown }[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString()
      const requestId: unknown = text && JSON.parse(text).requestId
      const line = lines[heard.length] ?? lines.at(-1)
      heard.push({ atMs: performance.now(), requestId })
      if (!line) return
      const type = line.type ?? 'application/json; charset=utf-8'
      response.writeHead(line.status, { 'content-type': type, ...line.headers })
      response.end(typeof line.body === 'string' ? line.body : JSON.stringify(line.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
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

test('RATE_LIMITED, 429, 503 and the failures of proxies are tried again under one id', async () => {
  await using actor = await openScriptedServer(
    { status: 200, body: failureBody('RATE_LIMITED') },
    { status: 429, body: { detail: 'slow down' } },
    { status: 503, body: { detail: 'busy' } },
    { status: 502, type: 'text/html', body: '<html>bad gateway</html>' },
    { status: 200, body: '{"ok":true,"requ' },
    { status: 200, body: detectBody },
  )
  const client = createClient({ baseUrl: actor.url, apiKey: 'k', attemptsMax: 6 })
  assert.equal((await client.detect(imageOf('A'))).faceCount, 0)
  assert.equal(actor.heard.length, 6)
  assert.equal(new Set(actor.heard.map(({ requestId }) => requestId)).size, 1)
})

test('what will not change by itself is not tried again', async () => {
  for (const [line, code] of [
    [{ status: 200, body: failureBody('NO_FACE_FOUND') }, 'NO_FACE_FOUND'],
    [{ status: 200, body: failureBody('PAYMENT_REQUIRED') }, 'PAYMENT_REQUIRED'],
    [{ status: 400, body: { detail: 'no' } }, 'INVALID_REQUEST'],
    [{ status: 401, body: { detail: 'no' } }, 'UNAUTHORIZED'],
    [{ status: 413, body: { detail: 'no' } }, 'PAYLOAD_TOO_LARGE'],
    [{ status: 404, body: { detail: 'No such route.' } }, 'HTTP_404'],
    [{ status: 200, type: 'text/html', body: '<html>' }, 'BAD_ANSWER'],
    [{ status: 200, body: { ok: 'yes' } }, 'BAD_ANSWER'],
    [{ status: 500, body: { detail: 'no' } }, 'HTTP_500'],
    [{ status: 307, headers: { location: 'http://127.0.0.1:1/' }, body: {} }, 'HTTP_307'],
  ] as const) {
    await using actor = await openScriptedServer(line)
    const client = createClient({ baseUrl: actor.url, apiKey: 'k' })
    await assert.rejects(client.detect(imageOf('A')), { name: 'FacegateError', code })
    assert.equal(actor.heard.length, 1, code)
  }
})

test('Retry-After is waited for, in seconds or as a date', async () => {
  const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000).toUTCString()
  await using actor = await openScriptedServer(
    { status: 503, headers: { 'retry-after': '1' }, body: { detail: 'busy' } },
    { status: 503, headers: { 'retry-after': date }, body: { detail: 'busy' } },
    { status: 200, body: detectBody },
  )
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => void events.push(event)
  const client = createClient({ baseUrl: actor.url, apiKey: 'k', onEvent })
  await client.detect(imageOf('A'))
  const [first, second, third] = actor.heard
  assert.ok(first && second && third)
  // Timers may fire up to a millisecond early.
  assert.ok(second.atMs - first.atMs >= 999, `${second.atMs - first.atMs} ms`)
  assert.ok(Date.now() >= Date.parse(date), 'the date has come')
  assert.deepEqual(
    events.map(({ outcome, attempt, status }) => ({ outcome, attempt, status })),
    [
      { outcome: 'retrying', attempt: 1, status: 503 },
      { outcome: 'retrying', attempt: 2, status: 503 },
      { outcome: 'answered', attempt: 3, status: 200 },
    ],
  )
})

test('a wait that would end after the time of the call is not begun', async () => {
  const busy = { status: 503, headers: { 'retry-after': '60' }, body: { detail: 'busy' } }
  await using actor = await openScriptedServer(busy)
  const client = createClient({ baseUrl: actor.url, apiKey: 'k', callMsMax: 30_000 })
  await assert.rejects(client.detect(imageOf('A')), { code: 'HTTP_503', retryAfterMs: 60_000 })
  assert.equal(actor.heard.length, 1)
})

test('the backoff doubles up to its limit, is random in full, and comes on top of Retry-After', () => {
  const limitOf = (count: number) => retryDelayMs(count, { retryAfterMs: undefined }, 1)
  assert.deepEqual([1, 2, 3, 6, 7, 20].map(limitOf), [200, 400, 800, 6400, 10_000, 10_000])
  assert.equal(retryDelayMs(5, { retryAfterMs: undefined }, 0), 0)
  assert.equal(retryDelayMs(1, { retryAfterMs: 3000 }, 0.5), 3100)
})

test('attempts are bounded; the error is that of the last', async () => {
  await using actor = await openScriptedServer({ status: 200, body: failureBody('RATE_LIMITED') })
  const client = createClient({ baseUrl: actor.url, apiKey: 'k', attemptsMax: 3 })
  const answer = await client.try.detect(imageOf('A'))
  assert.ok(!answer.ok)
  assert.equal(answer.error.code, 'RATE_LIMITED')
  assert.equal(actor.heard.length, 3)
  await client.try.detect(imageOf('A'), {}, { attemptsMax: 1 })
  assert.equal(actor.heard.length, 4)
})

test('who does not answer in time is asked again, then TIMED_OUT; nobody there: CONNECTION_FAILED', async () => {
  await using actor = await openScriptedServer()
  const seen: unknown[] = []
  const onEvent = ({ attempt, code }: ClientEvent): void => void seen.push([attempt, code])
  const limits = { attemptMsMax: 30, attemptsMax: 2 }
  const client = createClient({ baseUrl: actor.url, apiKey: 'k', onEvent, ...limits })
  await assert.rejects(client.detect(imageOf('A')), { code: 'TIMED_OUT' })
  assert.deepEqual(seen, [
    [1, 'TIMED_OUT'],
    [2, 'TIMED_OUT'],
  ])
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', attemptsMax: 2 })
  const failure = await nobody.detect(imageOf('A')).catch((error: unknown) => error)
  assert.ok(failure instanceof FacegateError)
  assert.equal(failure.code, 'CONNECTION_FAILED')
  assert.match(failure.requestId ?? '', /^[0-9a-f-]{36}$/u)
})

test('an abort ends a call at once, before, amid and between attempts, with its own reason', async () => {
  await using mute = await openScriptedServer()
  const client = createClient({ baseUrl: mute.url, apiKey: 'k' })
  const reason = new Error('the page was left')
  const early = AbortSignal.abort(reason)
  await assert.rejects(client.detect(imageOf('A'), {}, { signal: early }), reason)
  assert.equal(mute.heard.length, 0)
  const amid = new AbortController()
  const running = client.try.detect(imageOf('A'), {}, { signal: amid.signal })
  setTimeout(() => amid.abort(reason), 30)
  await assert.rejects(running, reason)

  const wait = { status: 503, headers: { 'retry-after': '50' }, body: { detail: 'busy' } }
  await using busy = await openScriptedServer(wait)
  const between = new AbortController()
  const onEvent = (): void => between.abort(reason)
  const waiting = createClient({ baseUrl: busy.url, apiKey: 'k', onEvent })
  await assert.rejects(waiting.detect(imageOf('A'), {}, { signal: between.signal }), reason)
})

test('the deletion of a group is not sent again when its connection breaks; reading is', async () => {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await using line = await openDisconnectingProxy(gallery.url, (request) =>
    request % 2 === 1 ? 'beforeResponse' : undefined,
  )
  const client = createClient({ baseUrl: line.url, apiKey: key })
  await client.enroll(imageOf('A'), { groups: ['staff'] })
  await assert.rejects(client.groups.delete('staff'), { code: 'CONNECTION_FAILED' })
  assert.equal(line.requestCount(), 2)
  await client.groups.list()
  assert.deepEqual(await client.groups.list(), [])
  assert.equal(line.requestCount(), 5)
})

test('neither errors nor events hold the key or a picture', async () => {
  const key = 'fsk_live_secret'
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => {
    events.push(event)
    throw new Error('the log is full')
  }
  const heard: unknown[] = []
  for (const baseUrl of [gallery.url, 'http://127.0.0.1:1']) {
    const client = createClient({ baseUrl, apiKey: key, onEvent, attemptsMax: 1 })
    const answer = await client.try.detect({
      bytes: 'c2VjcmV0IHBpY3R1cmU=',
      contentType: 'image/png',
    })
    assert.ok(!answer.ok)
    heard.push(answer.error, answer.error.cause, answer.error.stack, client)
  }
  assert.equal(events.length, 2)
  const text = inspect([heard, events], { depth: 10 })
  assert.ok(!text.includes('secret') && !text.includes('c2Vj'), text)
  for (const apiKey of ['', 'fsk_live_secret\n', 'a b']) {
    const make = () => createClient({ baseUrl: gallery.url, apiKey })
    assert.throws(
      make,
      (error: Error) => /apiKey/u.test(error.message) && !/secret/u.test(error.message),
    )
  }
})
