import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { rootDir } from '../../support/paths.ts'

const app = 'https://app.example.org'
const local = 'http://localhost:3000'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: { CORS_ORIGINS: `${app},${local}`, COMPREFACE_API: 'on' },
  })
})
after(() => gallery[Symbol.asyncDispose]())

const execute = '/v1/face/execute'

/** The headers of a response that concern other origins. */
function corsOf({ headers }: Response): Record<string, string> {
  const names = [...headers].filter(([name]) => name.startsWith('access-control-'))
  return Object.fromEntries(names)
}

const preflight = (url: string, path: string, origin: string, method = 'POST') =>
  fetch(`${url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,x-api-key',
    },
  })

const call = (origin: string, key = gallery.key) =>
  fetch(`${gallery.url}${execute}`, {
    method: 'POST',
    headers: { origin, 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'svc.detect', params: imageParams('anna') }),
  })

test('The preflight of a permitted origin allows the headers of a call, without credentials', async () => {
  for (const origin of [app, local]) {
    const response = await preflight(gallery.url, execute, origin)
    assert.equal(response.status, 204)
    const cors = corsOf(response)
    assert.equal(cors['access-control-allow-origin'], origin)
    assert.equal(cors['access-control-allow-methods'], 'POST')
    const allowed = cors['access-control-allow-headers']?.toLowerCase().split(', ')
    assert.deepEqual(allowed, ['x-api-key', 'content-type', 'x-api-version', 'traceparent'])
    assert.equal('access-control-allow-credentials' in cors, false)
    assert.equal(response.headers.get('vary'), 'Origin')
  }
  const subjects = await preflight(gallery.url, '/v1/groups/door', app, 'DELETE')
  assert.equal(corsOf(subjects)['access-control-allow-methods'], 'DELETE')
})

test('A page of a permitted origin can read every response and the headers that clients need', async () => {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated', permissions: ['x'] })
  for (const [sentKey, status] of [
    [gallery.key, 200],
    [key, 200],
    ['fsk_live_wrong', 401],
  ] as const) {
    const response = await call(app, sentKey)
    assert.equal(response.status, status)
    const cors = corsOf(response)
    assert.equal(cors['access-control-allow-origin'], app)
    const exposed = cors['access-control-expose-headers']?.split(', ') ?? []
    for (const name of ['Retry-After', 'RateLimit-Remaining', 'X-Request-Id', 'WWW-Authenticate'])
      assert.ok(exposed.includes(name), name)
    assert.equal('access-control-allow-credentials' in cors, false)
  }
  const page = await readFile(path.join(rootDir, 'docs/reference/request-formats.md'), 'utf8')
  const row = page.split('\n').find((line) => line.includes('headers that the page can read'))
  const documented = [...(row ?? '').matchAll(/`([\w-]+)`/gu)].map(([, name]) => name)
  const { 'access-control-expose-headers': exposed } = corsOf(await call(app, gallery.key))
  assert.deepEqual(documented, exposed?.split(', '))
  const missing = await fetch(`${gallery.url}/v1/nothing`, { headers: { origin: app } })
  assert.deepEqual([missing.status, corsOf(missing)['access-control-allow-origin']], [404, app])
})

test('Another origin is refused in the preflight, and cannot read a response', async () => {
  for (const origin of ['https://evil.example.org', `${app}.evil.example`, 'null', `${app}:8443`]) {
    const refused = await preflight(gallery.url, execute, origin)
    assert.deepEqual([refused.status, corsOf(refused)], [403, {}], origin)
    const { detail } = (await refused.json()) as { detail: string }
    assert.match(detail, /add the origin to CORS_ORIGINS/u)
    const response = await call(origin)
    assert.deepEqual([response.status, corsOf(response)], [200, {}], origin)
    assert.equal(response.headers.get('vary'), 'Origin')
  }
})

test('Routes of the console and of CompreFace, and other OPTIONS requests, are as before', async () => {
  for (const path of ['/console/v1/session', '/api/v1/recognition/subjects', '/v1x/face/execute']) {
    const response = await preflight(gallery.url, path, app)
    assert.ok([404, 405].includes(response.status), `${path} ${response.status}`)
    assert.deepEqual(corsOf(response), {})
  }
  const plain = await fetch(`${gallery.url}${execute}`, { method: 'OPTIONS' })
  assert.deepEqual([plain.status, plain.headers.get('allow')], [405, 'POST'])
})

test('With * every origin is permitted; without the setting none is', async () => {
  await using open = await startGallery({ environment: { CORS_ORIGINS: '*' } })
  const any = await preflight(open.url, execute, 'https://any.example')
  assert.deepEqual([any.status, corsOf(any)['access-control-allow-origin']], [204, '*'])
  const list = await fetch(`${open.url}/v1/groups`, {
    headers: { origin: 'null', 'x-api-key': open.key },
  })
  assert.deepEqual([list.status, corsOf(list)['access-control-allow-origin']], [200, '*'])
  assert.equal(list.headers.get('vary'), null)
  await using closed = await startGallery()
  const none = await preflight(closed.url, execute, app)
  assert.deepEqual([none.status, corsOf(none)], [405, {}])
})
