import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { noSuchRoute } from '../lib/errors.ts'
import { createLog } from '../lib/log.ts'
import { serveStaticFiles } from './static-files.ts'
import { createHttpServer, type HttpServer } from './server.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-pages-'))
  await mkdir(path.join(folder, 'dist', 'assets'), { recursive: true })
  const put = (name: string, text: string) => writeFile(path.join(folder, name), text)
  await put('secret.js', 'outside')
  await put('dist/index.html', '<meta nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>')
  await put('dist/assets/app-1a2b.js', 'plain')
  await put('dist/assets/app-1a2b.js.br', 'brotli')
  await put('dist/assets/app-1a2b.js.map', 'map')
  await put('dist/favicon.svg', '<svg/>')
  await mkdir(path.join(folder, 'dist', 'docs', 'samples'), { recursive: true })
  await put('dist/docs/index.html', 'the front page')
  await put('dist/docs/samples/index.html', 'the samples')
  await put('dist/docs/samples/mia.jpg', 'a picture')
})
after(() => rm(folder, { recursive: true }))

async function serve(dist: string): Promise<HttpServer & { readonly url: string }> {
  const server = createHttpServer({
    routes: [{ method: 'GET', path: '/healthz', handle: () => ({ status: 200, body: {} }) }],
    fallback: serveStaticFiles(path.join(folder, dist)),
    headersMsMax: 10_000,
    requestMsMax: 30_000,
    connectionsMax: 100,
    connectionsPerAddressMax: 1000,
    writeMsMax: 20_000,
    drainMsMax: 100,
    log: createLog('silent'),
  })
  return { ...server, url: await server.listen('127.0.0.1', 0) }
}

const browserHeaders = { accept: 'text/html,*/*', 'accept-encoding': 'identity' }

test('Every page path returns the application with a new nonce and without inline scripts', async () => {
  const { url, close } = await serve('dist')
  const nonces = new Set<string>()
  for (const pagePath of ['/', '/projects/1', '/index.html']) {
    const response = await fetch(url + pagePath, { headers: browserHeaders })
    const text = await response.text()
    const policy = response.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([^']+)'/u.exec(policy)?.[1] ?? ''
    assert.equal(response.status, 200)
    assert.equal(text, `<meta nonce="${nonce}"><style nonce="${nonce}"></style>`)
    assert.match(policy, /script-src 'self';/u)
    assert.match(policy, /frame-ancestors 'none'/u)
    assert.ok(!policy.includes('unsafe'))
    assert.equal(response.headers.get('cache-control'), 'no-cache')
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 3)
  assert.equal((await fetch(url)).status, 200, '`/` returns the page for any Accept header')
  await close()
})

test('Files with a hash in the name are cached permanently and sent compressed if a compressed file exists', async () => {
  const { url, close } = await serve('dist')
  const plain = await fetch(`${url}/assets/app-1a2b.js`, { headers: browserHeaders })
  assert.equal(await plain.text(), 'plain')
  assert.match(plain.headers.get('cache-control') ?? '', /immutable/u)
  assert.match(plain.headers.get('content-type') ?? '', /javascript/u)
  const head = { method: 'HEAD', headers: { 'accept-encoding': 'gzip, br' } }
  const compressed = await fetch(`${url}/assets/app-1a2b.js`, head)
  assert.equal(compressed.headers.get('content-encoding'), 'br')
  const icon = await fetch(`${url}/favicon.svg`)
  assert.doesNotMatch(icon.headers.get('cache-control') ?? '', /immutable/u)
  await close()
})

test('A file has an entity tag, by which a client does not load it again', async () => {
  const { url, close } = await serve('dist')
  for (const file of ['/assets/app-1a2b.js', '/favicon.svg']) {
    const etag = (await fetch(url + file, { headers: browserHeaders })).headers.get('etag') ?? ''
    const compressed = await fetch(url + file, { headers: { 'accept-encoding': 'br' } })
    assert.equal(compressed.headers.get('etag'), etag, 'the encodings share the tag')
    const unchanged = await fetch(url + file, { headers: { 'if-none-match': etag } })
    assert.equal(unchanged.status, 304)
    const changed = await fetch(url + file, { headers: { 'if-none-match': 'W/"other"' } })
    assert.equal(changed.status, 200)
  }
  await close()
})

test('Source maps, paths outside the folder and API paths are not served', async () => {
  const { url, close } = await serve('dist')
  const missing = [
    '/assets/app-1a2b.js.map',
    '/assets/none.js',
    '/assets/..%2f..%2fsecret.js',
    '/v1/nothing',
    '/console/v1/nothing',
    '/docs/none.html',
    '/docs/none/',
  ]
  for (const pagePath of missing) {
    const response = await fetch(url + pagePath, { headers: browserHeaders })
    assert.equal(response.status, 404, pagePath)
    assert.deepEqual(await response.json(), { detail: noSuchRoute })
  }
  assert.equal((await fetch(`${url}/anything`)).status, 404)
  assert.equal((await fetch(`${url}/`, { method: 'POST' })).status, 404)
  await close()
})

test('The documentation is a folder of pages with a policy that permits no inline script', async () => {
  const { url, close } = await serve('dist')
  const redirected = await fetch(`${url}/docs`, { redirect: 'manual' })
  assert.equal(redirected.status, 302)
  assert.equal(redirected.headers.get('location'), '/docs/')
  for (const [address, text] of [
    ['/docs', 'the front page'],
    ['/docs/', 'the front page'],
    ['/docs/index.html', 'the front page'],
    ['/docs/samples', 'the samples'],
    ['/docs/samples/', 'the samples'],
  ] as const) {
    const response = await fetch(url + address, { headers: browserHeaders })
    assert.equal(await response.text(), text)
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(policy, /script-src 'self'; style-src 'self';/u)
    assert.match(policy, /frame-ancestors 'none'/u)
    assert.ok(!policy.includes('unsafe'))
    assert.equal(response.headers.get('cache-control'), 'no-cache')
  }
  const picture = await fetch(`${url}/docs/samples/mia.jpg`)
  assert.equal(picture.headers.get('content-type'), 'image/jpeg')
  await close()
})

test('Without a console build, a page explains how to build it', async () => {
  const { url, close } = await serve('none')
  const response = await fetch(url, { headers: browserHeaders })
  assert.match(await response.text(), /The console is not built/u)
  assert.equal((await fetch(url)).status, 404)
  await close()
})
