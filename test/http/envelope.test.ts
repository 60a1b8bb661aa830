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

const invalid = async (body: unknown, path: RegExp): Promise<void> => {
  const answer = await facegate.post(body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(answer.body.errors[0]?.code, 'INVALID_REQUEST', JSON.stringify(answer.body))
  assert.match(answer.body.errors[0].message, path)
}

test('an answer echoes requestId, action and correlationId', async () => {
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

test('a correlationId and a requestId are made where none was sent', async () => {
  const { body } = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(body.data.results[0].correlationId, 'auto-0')
})

test('a key that is missing, cut, mistyped or unknown gets one identical 401', async () => {
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
    const answer = await facegate.post({ action: 'svc.detect', params: {} }, { 'x-api-key': wrong })
    assert.equal(answer.status, 401)
    bodies.add(JSON.stringify(answer.body))
  }
  assert.deepEqual([...bodies], ['{"detail":"API key missing or unknown."}'])
})

test('a stranger with a huge body is refused before it is read', async () => {
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
  assert.ok(sent.bytes < 8 * 1024 * 1024, `${sent.bytes} bytes were sent before the answer`)
})

test('bodies that are no JSON object are 400', async () => {
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

test('only version 1 of the envelope exists', async () => {
  const body = { action: 'svc.nothing', params: {} }
  assert.equal((await facegate.post(body, { 'x-api-version': '1' })).status, 200)
  assert.equal((await facegate.post(body, { 'x-api-version': '2' })).status, 400)
})

test('other content types and encodings are 415', async () => {
  assert.equal((await facegate.post('{}', { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await facegate.post('{}', { 'content-type': '' })).status, 415)
  assert.equal((await facegate.post('{}', { 'content-encoding': 'gzip' })).status, 415)
  const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
  assert.equal((await facegate.post({ action: 'x', params: {} }, charset)).status, 200)
})

test('a connection serves on after a small body that nobody wanted', async () => {
  await using agent = new KeepAliveConnection()
  const refused = await agent.post('text/plain')
  assert.equal(refused.status, 415)
  // The time after which a body that is still on its way ends the connection.
  await pause(1200)
  const answered = await agent.post('application/json')
  assert.equal(answered.status, 200)
  assert.equal(answered.port, refused.port, 'both came by one connection')
})

test('unknown routes are 404 and wrong methods 405 with Allow', async () => {
  const nowhere = await fetch(`${facegate.url}/v1/face/nothing`)
  assert.equal(nowhere.status, 404)
  assert.deepEqual(Object.keys((await nowhere.json()) as object), ['detail'])
  const wrong = await fetch(`${facegate.url}/v1/face/execute`)
  assert.equal(wrong.status, 405)
  assert.equal(wrong.headers.get('allow'), 'POST')
  assert.deepEqual(Object.keys((await wrong.json()) as object), ['detail'])
  const put = await fetch(`${facegate.url}/healthz`, { method: 'PUT' })
  assert.equal(put.headers.get('allow'), 'GET, HEAD')
})

test('everything wrong with an envelope is named at once', async () => {
  const answer = await facegate.post({
    action: 'svc.nope',
    requestId: 'x',
    params: 3,
    debug: 'no',
    x: 1,
  })
  const messages = answer.body.errors.map((error: { message: string }) => error.message)
  for (const path of ['action', 'requestId', 'params', 'debug', 'x'])
    assert.ok(
      messages.some((message: string) => message.startsWith(`${path}:`)),
      path,
    )
  assert.equal(answer.body.action, 'svc.nope')
  assert.notEqual(answer.body.requestId, 'x')
})

test('a missing action is INVALID_REQUEST and echoes nothing', async () => {
  const { body } = await facegate.post({ params: {} })
  assert.equal(body.errors[0].code, 'INVALID_REQUEST')
  assert.equal(body.action, '')
})

test('every problem of the parameters is one error that names its path', async () => {
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

test('missing, too many or wrong images are INVALID_REQUEST', async () => {
  const image = imageItem(await samplePhotograph(1))
  const detect = (params: object) => ({ action: 'svc.detect', params })
  await invalid(detect({}), /params\.images/u)
  await invalid(detect({ images: [] }), /params\.images/u)
  await invalid(detect({ images: 'x' }), /params\.images/u)
  await invalid(detect({ images: Array.from({ length: 11 }).fill(image) }), /at most 10/u)
  await invalid(
    detect({ images: [{ ...image, correlationId: 'x'.repeat(129) }] }),
    /correlationId/u,
  )
})

test('text that no database can store is INVALID_REQUEST, never a fault', async () => {
  const image = imageItem(await samplePhotograph(1))
  const detect = (item: object) => ({ action: 'svc.detect', params: { images: [item] } })
  await invalid(detect({ ...image, correlationId: 'a\0b' }), /NUL/u)
  await invalid(detect({ ...image, correlationId: 'a\uD800b' }), /surrogate/u)
  await invalid(
    '{"action":"svc.detect","params":{"images":[],"maxFaces":1e400}}',
    /params\.maxFaces: must be a finite number/u,
  )
})

test('a path or an address is no image', async () => {
  const item = { kind: 'image', contentType: 'image/jpeg' }
  for (const bytes of ['https://example.org/a.jpg', '/etc/passwd', '../a.png'])
    await invalid(
      { action: 'svc.detect', params: { images: [{ ...item, bytes }] } },
      /params\.images\[0\]\.bytes/u,
    )
})

test('the service describes itself without a key', async () => {
  const get = (path: string) => fetch(facegate.url + path)
  assert.equal((await get('/healthz')).status, 200)
  assert.deepEqual(await (await get('/readyz')).json(), { ready: true })
  const description = (await (await get('/v1/openapi.json')).json()) as { openapi: string }
  assert.equal(description.openapi, '3.1.0')
  assert.match(await (await get('/docs')).text(), /svc\.detect/u)
  assert.match(await (await get('/metrics')).text(), /facegate_calls_total\{action="svc\.detect"/u)
})

/** A client with one connection, which it keeps. */
class KeepAliveConnection implements AsyncDisposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  /** @returns the status of the answer, and the client's port that it came to. */
  post(type: string): Promise<{ readonly status: number; readonly port: number | undefined }> {
    const headers = { 'x-api-key': facegate.key, 'content-type': type, 'content-length': 26 }
    const to = { method: 'POST', agent: this.#agent, headers }
    return new Promise((resolve, reject) => {
      const asking = request(`${facegate.url}/v1/face/execute`, to, (answer) => {
        const { localPort: port } = answer.socket
        answer.resume().once('end', () => resolve({ status: answer.statusCode ?? 0, port }))
      })
      // The headers go first: the service refuses them before it has seen the body.
      asking.once('error', reject).flushHeaders()
      void pause(50).then(() => asking.end('{"action":"x","params":{}}'))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
  }
}
