import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
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
})
after(() => rm(folder, { recursive: true }))

async function serve(dist: string): Promise<HttpServer & { readonly url: string }> {
  const server = createHttpServer({
    routes: [{ method: 'GET', path: '/healthz', handle: () => ({ status: 200, body: {} }) }],
    fallback: serveStaticFiles(path.join(folder, dist)),
    headersMsMax: 10_000,
    requestMsMax: 30_000,
    connectionsMax: 100,
    drainMsMax: 100,
    log: createLog('silent'),
  })
  return { ...server, url: await server.listen('127.0.0.1', 0) }
}

const asPage = { accept: 'text/html,*/*', 'accept-encoding': 'identity' }

test('a page of the application is the application, with a nonce of its own and no inline script', async () => {
  const { url, close } = await serve('dist')
  const nonces = new Set<string>()
  for (const place of ['/', '/projects/1', '/index.html']) {
    const answer = await fetch(url + place, { headers: asPage })
    const text = await answer.text()
    const policy = answer.headers.get('content-security-policy') ?? ''
    const nonce = /'nonce-([^']+)'/u.exec(policy)?.[1] ?? ''
    assert.equal(answer.status, 200)
    assert.equal(text, `<meta nonce="${nonce}"><style nonce="${nonce}"></style>`)
    assert.match(policy, /script-src 'self';/u)
    assert.match(policy, /frame-ancestors 'none'/u)
    assert.ok(!policy.includes('unsafe'))
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    nonces.add(nonce)
  }
  assert.equal(nonces.size, 3)
  assert.equal((await fetch(url)).status, 200, 'the front page needs no browser to ask for it')
  await close()
})

test('files with a hash in their name are kept for ever and sent compressed where that is there', async () => {
  const { url, close } = await serve('dist')
  const plain = await fetch(`${url}/assets/app-1a2b.js`, { headers: asPage })
  assert.equal(await plain.text(), 'plain')
  assert.match(plain.headers.get('cache-control') ?? '', /immutable/u)
  assert.match(plain.headers.get('content-type') ?? '', /javascript/u)
  const head = { method: 'HEAD', headers: { 'accept-encoding': 'gzip, br' } }
  const packed = await fetch(`${url}/assets/app-1a2b.js`, head)
  assert.equal(packed.headers.get('content-encoding'), 'br')
  const icon = await fetch(`${url}/favicon.svg`)
  assert.doesNotMatch(icon.headers.get('cache-control') ?? '', /immutable/u)
  await close()
})

test('nothing else is served: no source map, no path out of the folder, no page for programs', async () => {
  const { url, close } = await serve('dist')
  const missing = [
    '/assets/app-1a2b.js.map',
    '/assets/none.js',
    '/assets/..%2f..%2fsecret.js',
    '/v1/nothing',
    '/console/v1/nothing',
  ]
  for (const place of missing) {
    const answer = await fetch(url + place, { headers: asPage })
    assert.equal(answer.status, 404, place)
    assert.deepEqual(await answer.json(), { detail: 'No such route.' })
  }
  assert.equal((await fetch(`${url}/anything`)).status, 404)
  assert.equal((await fetch(`${url}/`, { method: 'POST' })).status, 404)
  await close()
})

test('where the console is not built, a page says so', async () => {
  const { url, close } = await serve('none')
  const answer = await fetch(url, { headers: asPage })
  assert.match(await answer.text(), /The console is not built/u)
  assert.equal((await fetch(url)).status, 404)
  await close()
})
