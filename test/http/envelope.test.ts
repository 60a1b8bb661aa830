import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  imageItem,
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'

let facegate: TestFacegate
before(async () => {
  facegate = await startFacegate({ VISION_WORKERS: '1' })
})
after(() => facegate[Symbol.asyncDispose]())

const assertInvalid = async (body: unknown, path: RegExp): Promise<void> => {
  const response = await facegate.post(body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  assert.equal(response.body.errors[0]?.code, 'INVALID_REQUEST', JSON.stringify(response.body))
  assert.match(response.body.errors[0].message, path)
}

test('A response contains the requestId, the action and the correlationId of its request', async () => {
  const image = { ...imageItem(await samplePhotograph(3)), correlationId: 'camera 7' }
  const requestId = randomUUID()
  const { body } = await facegate.post({
    action: 'svc.detect',
    requestId,
    params: { images: [image] },
  })
  assert.equal(body.requestId, requestId)
  assert.equal(body.action, 'svc.detect')
  assert.equal(body.data.results.length, 1)
  assert.equal(body.data.results[0].index, 0)
  assert.equal(body.data.results[0].correlationId, 'camera 7')
  assert.equal(body.data.results[0].ok, true)
})

test('A request without a correlationId gets one', async () => {
  const { body } = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(body.data.results[0].correlationId, 'auto-0')
})

test('A missing, truncated, mistyped or unknown API key gets the same 401 response', async () => {
  const { key } = facegate
  const unknown = `fsk_live_${'A'.repeat(43)}000000`
  const bodies = new Set<string>()
  for (const wrong of [
    '',
    key.slice(0, -1),
    `${key}x`,
    key.replace(/.$/u, '!'),
    unknown,
    'nonsense',
  ]) {
    const response = await facegate.post(
      { action: 'svc.detect', params: {} },
      { 'x-api-key': wrong },
    )
    assert.equal(response.status, 401)
    bodies.add(JSON.stringify(response.body))
  }
  assert.equal(bodies.size, 1)
  assert.match(
    [...bodies][0] ?? '',
    /^\{"detail":"API key missing or unknown\. Send the whole key/u,
  )
})

test('A huge body without an API key is rejected before it is read', async () => {
  const sent = await new Promise<{ status: number | undefined; bytes: number }>(
    (resolve, reject) => {
      const { port } = new URL(facegate.url)
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const outgoing = request({
        port,
        host: '127.0.0.1',
        path: '/v1/face/execute',
        method: 'POST',
        headers,
      })
      const chunk = Buffer.alloc(64 * 1024, 0x20)
      let bytes = 0
      const pump = setInterval(() => {
        outgoing.write(chunk)
        bytes += chunk.length
      }, 1)
      outgoing.once('response', (response) => {
        clearInterval(pump)
        resolve({ status: response.statusCode, bytes })
        response.resume()
        outgoing.destroy()
      })
      outgoing.once('error', reject)
    },
  )
  assert.equal(sent.status, 401)
  assert.ok(sent.bytes < 8 * 1024 * 1024, `${sent.bytes} bytes were sent before the response`)
})

test('A body that is not a JSON object gets status 400', async () => {
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"action":"a","action":"b"}',
    '{"__proto__":{}}',
  ])
    assert.equal((await facegate.post(body)).status, 400, body)
  assert.equal((await facegate.post(new Uint8Array([0x7b, 0xff, 0x7d]))).status, 400)
})

test('Only version 1 of the API is accepted', async () => {
  const body = { action: 'svc.nothing', params: {} }
  assert.equal((await facegate.post(body, { 'x-api-version': '1' })).status, 200)
  assert.equal((await facegate.post(body, { 'x-api-version': '2' })).status, 400)
})

test('Other content types and encodings get status 415', async () => {
  assert.equal((await facegate.post('{}', { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await facegate.post('{}', { 'content-type': '' })).status, 415)
  assert.equal((await facegate.post('{}', { 'content-encoding': 'gzip' })).status, 415)
  const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
  assert.equal((await facegate.post({ action: 'x', params: {} }, charset)).status, 200)
})

test('A 400 or 415 whose body was read returns the requestId of the body in X-Request-Id', async () => {
  const requestId = randomUUID()
  const body = JSON.stringify({ action: 'svc.detect', params: {}, requestId })
  const cases: readonly (readonly [string, number, Readonly<Record<string, string>>?])[] = [
    [body, 400, { 'x-api-version': '2' }],
    [`${body}}`, 400],
    [body.replace('"action"', '"params":{},"action"'), 400],
    [body.replace('"params":{}', `"params":${'['.repeat(99)}${']'.repeat(99)}`), 400],
    [`[${body.replace('"requestId":', '"requestId" :\n ')}]`, 400],
    [body, 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    [body, 415, { 'content-type': '' }],
  ]
  for (const [text, status, headers] of cases) {
    const response = await facegate.post(text, headers)
    assert.equal(response.status, status, text)
    assert.equal(response.headers.get('x-request-id'), requestId, `${status} ${text}`)
  }
  for (const text of ['{', '{"requestId":"7"}}', `{"requestId":"${requestId.slice(1)}"}}`]) {
    const response = await facegate.post(text)
    assert.equal(response.status, 400)
    assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/u)
  }
})

test('A connection stays usable after a small body was rejected unread', async () => {
  await using agent = new KeepAliveConnection()
  const rejected = await agent.post('text/plain')
  assert.equal(rejected.status, 415)
  // After this time, a body that has not arrived completely closes the connection.
  await pause(1200)
  const accepted = await agent.post('application/json')
  assert.equal(accepted.status, 200)
  assert.equal(accepted.port, rejected.port, 'both used one connection')
})

test('An unknown route gets 404, and a wrong method gets 405 with Allow', async () => {
  const unknown = await fetch(`${facegate.url}/v1/face/nothing`)
  assert.equal(unknown.status, 404)
  assert.deepEqual(Object.keys((await unknown.json()) as object), ['detail'])
  const wrong = await fetch(`${facegate.url}/v1/face/execute`)
  assert.equal(wrong.status, 405)
  assert.equal(wrong.headers.get('allow'), 'POST')
  assert.deepEqual(Object.keys((await wrong.json()) as object), ['detail'])
  const put = await fetch(`${facegate.url}/healthz`, { method: 'PUT' })
  assert.equal(put.headers.get('allow'), 'GET, HEAD')
})

test('All problems of a request body are reported in one response', async () => {
  const response = await facegate.post({
    action: 'svc.nope',
    requestId: 'x',
    params: 3,
    debug: 'no',
    x: 1,
  })
  const messages = response.body.errors.map((error: { message: string }) => error.message)
  for (const path of ['action', 'requestId', 'params', 'debug', 'x'])
    assert.ok(
      messages.some((message: string) => message.startsWith(`${path}:`)),
      path,
    )
  assert.equal(response.body.action, 'svc.nope')
  assert.notEqual(response.body.requestId, 'x')
})

test('A request without an action gets INVALID_REQUEST and an empty action', async () => {
  const { body } = await facegate.post({ params: {} })
  assert.equal(body.errors[0].code, 'INVALID_REQUEST')
  assert.equal(body.action, '')
})

test('Each problem of the parameters is one error with its path', async () => {
  const image = {
    ...imageItem(await samplePhotograph(1)),
    kind: 'picture',
    contentType: 'image/gif',
  }
  const params = { images: [image], maxFaces: 0, minFaceConfidence: 2, returnLandmark: true }
  const { body } = await facegate.post({ action: 'svc.detect', params })
  const messages = body.errors.map((error: { message: string }) => error.message.split(':')[0])
  assert.deepEqual(messages.toSorted(), [
    'params.images[0].contentType',
    'params.images[0].kind',
    'params.maxFaces',
    'params.minFaceConfidence',
    'params.returnLandmark',
  ])
})

test('Missing, too many or malformed images get INVALID_REQUEST', async () => {
  const image = imageItem(await samplePhotograph(1))
  const detect = (params: object) => ({ action: 'svc.detect', params })
  await assertInvalid(detect({}), /params\.images/u)
  await assertInvalid(detect({ images: [] }), /params\.images/u)
  await assertInvalid(detect({ images: 'x' }), /params\.images/u)
  await assertInvalid(detect({ images: Array.from({ length: 11 }).fill(image) }), /1 to 10/u)
  await assertInvalid(
    detect({ images: [{ ...image, correlationId: 'x'.repeat(129) }] }),
    /correlationId/u,
  )
})

test('Text that a database cannot store gets INVALID_REQUEST, not an internal error', async () => {
  const image = imageItem(await samplePhotograph(1))
  const detect = (item: object) => ({ action: 'svc.detect', params: { images: [item] } })
  await assertInvalid(detect({ ...image, correlationId: 'a\0b' }), /NUL/u)
  await assertInvalid(detect({ ...image, correlationId: 'a\uD800b' }), /surrogate/u)
  await assertInvalid(
    '{"action":"svc.detect","params":{"images":[],"maxFaces":1e400}}',
    /params\.maxFaces: must be a number from -9007199254740991 to 9007199254740991$/u,
  )
})

test('A whole number beyond 2^53 - 1 gets INVALID_REQUEST, and is not stored as another number', async () => {
  const update = (badge: string) =>
    `{"action":"svc.updateSubject","params":{"externalId":"a","attributes":{"badge":${badge}}}}`
  for (const badge of ['9007199254740992', '-9007199254740993', '12345678901234567890'])
    await assertInvalid(
      update(badge),
      /params\.attributes\.badge: must be a number from -9007199254740991 to/u,
    )
  for (const badge of ['9007199254740991', '-9007199254740991', '0.5'])
    assert.equal((await facegate.post(update(badge))).body.errors[0].code, 'SUBJECT_NOT_FOUND')
})

test('A path or a URL is not accepted as an image', async () => {
  const item = { kind: 'image', contentType: 'image/jpeg' }
  for (const bytes of ['https://example.org/a.jpg', '/etc/passwd', '../a.png'])
    await assertInvalid(
      { action: 'svc.detect', params: { images: [{ ...item, bytes }] } },
      /params\.images\[0\]\.bytes/u,
    )
})

test('Health, readiness, OpenAPI, docs and metrics need no API key', async () => {
  const get = (path: string) => fetch(facegate.url + path)
  assert.equal((await get('/healthz')).status, 200)
  assert.deepEqual(await (await get('/readyz')).json(), { ready: true })
  const description = (await (await get('/v1/openapi.json')).json()) as { openapi: string }
  assert.equal(description.openapi, '3.1.0')
  assert.equal((await get('/docs/samples/group.jpg')).status, 200)
  assert.match(await (await get('/metrics')).text(), /facegate_calls_total\{action="svc\.detect"/u)
})

/** A client with one persistent connection. */
class KeepAliveConnection implements AsyncDisposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** @returns the status of the response and the local port of the connection. */
  post(type: string): Promise<{ readonly status: number; readonly port: number | undefined }> {
    const headers = { 'x-api-key': facegate.key, 'content-type': type, 'content-length': 26 }
    const options = { method: 'POST', agent: this.#agent, headers }
    return new Promise((resolve, reject) => {
      const outgoing = request(`${facegate.url}/v1/face/execute`, options, (response) => {
        const { localPort: port } = response.socket
        response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, port }))
      })
      // The headers are sent first: the service rejects them before it receives the body.
      outgoing.once('error', reject).flushHeaders()
      void pause(50).then(() => outgoing.end('{"action":"x","params":{}}'))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
  }
}
