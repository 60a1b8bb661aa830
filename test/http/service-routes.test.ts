import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createMetrics } from '../../src/http/metrics/metrics.ts'
import { serviceRoutes } from '../../src/http/routes/service-routes.ts'
import { createHttpServer, type HttpServer } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { countResponses, openRawClient, rawGet } from '../support/network/raw-client.ts'
import { serverLimits } from '../support/network/server-limits.ts'

/** How many times the metrics were rendered and the readiness was checked. */
const runs = { metrics: 0, readiness: 0 }
let reasons: readonly string[] = []

let server: HttpServer
let url: string
before(async () => {
  const metrics = createMetrics([
    {
      name: 'test_renderings_total',
      help: 'Renderings of the metrics.',
      kind: 'counter',
      labels: [],
      read: () => [{ labels: {}, value: ++runs.metrics }],
    },
  ])
  const notReady = async (): Promise<readonly string[]> => {
    runs.readiness++
    return reasons
  }
  server = createHttpServer({
    routes: serviceRoutes({ version: 'test', limits: {}, notReady, metrics: metrics.text }),
    ...serverLimits,
    log: createLog('silent'),
  })
  url = await server.listen('127.0.0.1', 0)
})
after(() => server.close())

for (const path of ['/v1/openapi.json', '/docs/samples/group.jpg']) {
  test(`${path} has an entity tag, by which a client does not load it again`, async () => {
    const response = await fetch(url + path)
    const etag = response.headers.get('etag') ?? ''
    const { length } = Buffer.from(await response.arrayBuffer())
    assert.match(etag, /^"[\w-]{22}"$/u)
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const client = await openRawClient(url)
      client.send(rawGet(path, `If-None-Match: ${tags}\r\nConnection: close\r\n`))
      const text = await client.readToEnd()
      assert.match(text, /^HTTP\/1\.1 304 [^]*\r\n\r\n$/u, `If-None-Match: ${tags}`)
      assert.ok(text.includes(`etag: ${etag}`))
      assert.doesNotMatch(text, /content-length/iu)
    }
    const changed = await fetch(url + path, { headers: { 'if-none-match': '"other"' } })
    assert.equal(Buffer.from(await changed.arrayBuffer()).length, length)
    const head = await fetch(url + path, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('etag'), etag)
    assert.equal(head.headers.get('content-length'), String(length))
  })
}

/** Sends the request on each of the connections, several times. Returns all responses. */
async function flood(path: string, connections: number, perConnection: number): Promise<string[]> {
  const one = async (): Promise<string> => {
    const client = await openRawClient(url)
    client.send(rawGet(path).repeat(perConnection))
    const text = await client.readUntil(
      (received) => countResponses(received, 200) >= perConnection,
    )
    client.socket.destroy()
    return text
  }
  return Promise.all(Array.from({ length: connections }, one))
}

/** Asserts that the runs of a flood of two rounds were at least the interval apart. */
async function assertShared(path: string, run: keyof typeof runs, intervalMs: number) {
  const runsBefore = runs[run]
  const startMs = performance.now()
  const texts = await flood(path, 20, 3)
  const runsMax = 1 + Math.ceil((performance.now() - startMs) / intervalMs)
  assert.ok(texts.every((text) => countResponses(text, 200) === 3))
  const runCount = runs[run] - runsBefore
  assert.ok(runCount >= 1 && runCount <= runsMax, `${runCount} runs for 60 requests`)
}

test('Requests for the metrics share their renderings, at most four in a second', async () => {
  await assertShared('/metrics', 'metrics', 250)
})

test('Requests for the readiness share their checks, at most ten in a second', async () => {
  await assertShared('/readyz', 'readiness', 100)
})

test('The routes for operators are served at their exact path only', async () => {
  for (const route of ['/healthz', '/readyz', '/metrics']) {
    const encoded = `/%${route.charCodeAt(1).toString(16)}${route.slice(2)}`
    const statusOf = async (target: string) => {
      const client = await openRawClient(url)
      client.send(rawGet(target, 'Connection: close\r\n'))
      return Number(/^HTTP\/1\.1 (\d+)/u.exec(await client.readToEnd())?.[1])
    }
    for (const target of [route, `${route}?a=1`, `http://test${route}`])
      assert.equal(await statusOf(target), 200, target)
    const others = [`${route}/`, `${route}/?a=1`, encoded, `${encoded}/`, `/${route}`]
    for (const target of [...others, `http://test${route}/`])
      assert.equal(await statusOf(target), 404, target)
  }
})

test('A response is never older than its request', async () => {
  const readCount = async (): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^test_renderings_total (\d+)$/mu.exec(text)?.[1])
  }
  assert.equal(await readCount(), (await readCount()) - 1)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  reasons = ['the test is not ready']
  const response = await fetch(`${url}/readyz`)
  assert.equal(response.status, 503)
  assert.deepEqual(await response.json(), { detail: 'the test is not ready' })
  reasons = []
})

const rejected: Readonly<Record<string, { readonly request: string; readonly status: number }>> = {
  'without Host': { request: 'GET /healthz HTTP/1.1\r\n\r\n', status: 400 },
  'with two Hosts': { request: 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', status: 400 },
  'without Host, for no route': { request: 'GET /none HTTP/1.1\r\n\r\n', status: 400 },
  'without Host, with a wrong method': { request: 'POST /healthz HTTP/1.1\r\n\r\n', status: 400 },
  'with a malformed URL': { request: rawGet('/%ff'), status: 400 },
  'with broken syntax': { request: 'GET\r\n\r\n', status: 400 },
  'with two lengths': {
    request: rawGet('/healthz', 'Content-Length: 1\r\nContent-Length: 2\r\n'),
    status: 400,
  },
  'with an unknown expectation': { request: rawGet('/healthz', 'Expect: other\r\n'), status: 417 },
  'with headers over 16 KiB': { request: rawGet(`/${'a'.repeat(20_000)}`), status: 431 },
}
for (const [name, { request, status }] of Object.entries(rejected))
  test(`A request ${name} gets ${status} with a detail`, async () => {
    const client = await openRawClient(url)
    client.send(request)
    const text = await client.readUntil((received) => received.includes('}'))
    client.socket.destroy()
    const [head = '', body = ''] = text.split('\r\n\r\n')
    assert.ok(head.startsWith(`HTTP/1.1 ${status} `), head)
    assert.match(head, /content-type: application\/json/iu)
    assert.deepEqual(Object.keys(JSON.parse(body) as object), ['detail'])
  })

test('HTTP/1.0 requires no Host', async () => {
  const client = await openRawClient(url)
  client.send('GET /healthz HTTP/1.0\r\n\r\n')
  assert.match(await client.readToEnd(), /^HTTP\/1\.1 200 [^]*\{"ok":true\}$/u)
})

test('an unknown route returns its 404 for every body, and never a code of the framework', async () => {
  const bodies: readonly (readonly [type: string | undefined, body: string | undefined])[] = [
    ['application/json', undefined],
    ['application/json', ''],
    ['application/json', '{'],
    ['application/json', '{"__proto__":1}'],
    ['invalid', 'x'],
    ['text/csv', 'x'],
    ['application/json', ' '.repeat(2_000_000)],
  ]
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const [type, body] of bodies) {
      const headers = type === undefined ? {} : { 'content-type': type }
      const response = await fetch(`${url}/v1/nothing`, { method, headers, body: body ?? null })
      const shown = `${method} ${type} ${body?.length}`
      assert.equal(response.status, 404, shown)
      assert.match(await response.text(), /^\{"detail":"No such route\. /u, shown)
    }
})
