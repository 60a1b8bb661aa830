import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { createHttpServer } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { haproxySkipReason, startHaProxy } from '../support/network/haproxy.ts'
import { serverLimits } from '../support/network/server-limits.ts'
import { rootDir } from '../support/paths.ts'

const read = (file: string): string => readFileSync(path.join(rootDir, file), 'utf8')

/** Returns the routes that the checklist does not permit a proxy to publish. */
function unpublishedRoutes(): string[] {
  const checklist = read('docs/operations/production-checklist.md')
  const [line = ''] = /^- .* need no key\. The proxy does not publish them,/mu.exec(checklist) ?? []
  return line.match(/\/\w+/gu) ?? []
}

test('The configurations for Caddy and Kubernetes block the routes for operators', () => {
  const routes = unpublishedRoutes()
  assert.equal(routes.length, 3)
  const blocked = routes.map((route) => `${route} ${route}/*`).join(' ')
  assert.ok(read('deploy/Caddyfile').includes(`@inside path ${blocked}\n`))
  const ingress = read('deploy/kubernetes/ingress.yaml')
  for (const route of routes)
    assert.match(ingress, new RegExp(`path: ${route}\n +pathType: Prefix\n`, 'u'))
})

const openssl = '/usr/bin/openssl'
const opensslSkipReason = existsSync(openssl) ? undefined : 'OpenSSL is not installed here'
const skip = haproxySkipReason ?? opensslSkipReason ?? false

/** Returns the value of TRUST_PROXY that the page about HAProxy states. */
function documentedTrustProxy(): string {
  const page = read('docs/operations/several-databases.md')
  const [, value = ''] = /On the servers, set `TRUST_PROXY=([^`]*)`/u.exec(page) ?? []
  return value
}

/** Starts a server with the documented setting. Every path responds, with the client as the server sees it. */
async function startServer(opened: AsyncDisposableStack): Promise<string> {
  const server = createHttpServer({
    routes: [],
    fallback: ({ clientIp, origin }) => ({ status: 200, body: { clientIp, origin } }),
    proxies: readConfig({ TRUST_PROXY: documentedTrustProxy() }).TRUST_PROXY,
    ...serverLimits,
    log: createLog('silent'),
  })
  opened.defer(() => server.close())
  return server.listen('127.0.0.1', 0)
}

async function createCertificate(opened: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-certificate-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const [key, certificate, both] = ['key', 'crt', 'pem'].map((end) => path.join(folder, end))
  const names = ['-subj', '/CN=b.example.org', '-keyout', key!, '-out', certificate!]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await promisify(execFile)(openssl, ['req', ...kind, ...names])
  await writeFile(both!, (await readFile(certificate!, 'utf8')) + (await readFile(key!, 'utf8')))
  return both!
}

/** Sends GET with exactly this path and these headers. The certificate is not checked. */
async function get(
  url: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const { request } = url.startsWith('https:') ? https : http
  const { hostname, port } = new URL(url)
  const options = { hostname, port, path: target, headers, agent: false, rejectUnauthorized: false }
  const sent = request(options)
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

test(
  'HAProxy blocks the routes for operators, and replaces the headers of a proxy',
  { skip },
  async () => {
    await using opened = new AsyncDisposableStack()
    const server = await startServer(opened)
    const certificate = await createCertificate(opened)
    const sites = { a: server, b: server, keys: '', hosts: 'b.example.org b\n' }
    const proxy = opened.use(await startHaProxy({ ...sites, certificate }))
    for (const route of unpublishedRoutes()) {
      const encoded = `/%${route.charCodeAt(1).toString(16)}${route.slice(2)}`
      for (const target of [
        route,
        `${route}/`,
        `${route}?a=1`,
        `${route}/a`,
        encoded,
        `${encoded}/`,
      ])
        assert.equal((await get(proxy.url, target)).status, 404, target)
    }
    assert.equal((await get(proxy.url, '/metricsviewer')).status, 200)
    const host = 'b.example.org:8443'
    const invented = {
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-host': 'evil.example.org',
    }
    for (const [url, protocol, other] of [
      [proxy.url, 'http', 'https'],
      [proxy.tlsUrl, 'https', 'http'],
    ] as const)
      for (const headers of [{ host }, { host, ...invented, 'x-forwarded-proto': other }]) {
        const { body } = await get(url, '/console', headers)
        assert.deepEqual(JSON.parse(body), {
          clientIp: '127.0.0.1',
          origin: `${protocol}://${host}`,
        })
      }
  },
)
