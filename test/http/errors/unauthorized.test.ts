import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { comprefaceRoutes } from '../../../src/compreface/compreface-routes.ts'
import { consoleRoutes } from '../../../src/console/routes.ts'
import { restRoutes } from '../../../src/http/routes/rest-routes.ts'
import { startConsole, type TestConsole } from '../../support/console/test-console.ts'

let nowMs = Date.now()
let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({
    clock: () => nowMs,
    environment: { COMPREFACE_API: 'on', TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
})
after(() => testConsole[Symbol.asyncDispose]())

type RequestLine = { readonly method: string; readonly path: string }

const send = ({ method, path }: RequestLine, headers: Readonly<Record<string, string>> = {}) =>
  fetch(testConsole.url + path.replaceAll(/:\w+/gu, 'x'), { method, headers })

async function assertChallenge(line: RequestLine, challenge: string): Promise<void> {
  const response = await send(line, { origin: testConsole.url })
  await response.arrayBuffer()
  assert.equal(response.status, 401, `${line.method} ${line.path}`)
  const name = `${line.method} ${line.path}`
  assert.equal(response.headers.get('www-authenticate'), challenge, name)
}

const apiKeyChallenge = 'ApiKey realm="facegate", in="header", name="X-Api-Key"'

test('Every route that requires a key names the header of the key in its 401', async () => {
  // The routes are only listed.
  const services = {} as Parameters<typeof comprefaceRoutes>[0]
  const execute = { method: 'POST', path: '/v1/face/execute' }
  // This route has the key in its path, reads nothing and always returns 404.
  const keyless = '/api/v1/static/:key/images/:image_id'
  const compatible = comprefaceRoutes(services).filter(({ path }) => path !== keyless)
  const lines = [execute, ...restRoutes, ...compatible]
  assert.ok(lines.length > 20)
  for (const line of lines) await assertChallenge(line, apiKeyChallenge)
})

test('Every route that requires a session names the cookie of the session in its 401', async () => {
  const challenge = 'Cookie realm="facegate console", cookie-name="__Host-facegate"'
  const lines = consoleRoutes.filter(({ minimumRole }) => minimumRole !== 'anonymous')
  assert.ok(lines.length > 40)
  for (const { method, path } of lines)
    await assertChallenge({ method, path: `/console/v1${path}` }, challenge)
  const guest = testConsole.newClient()
  const credentials = { name: 'Olga', password: 'wrong' }
  const failed = await guest.raw('POST', '/sign-in', { origin: testConsole.url }, credentials)
  assert.equal(failed.status, 401)
  assert.equal(failed.headers.get('www-authenticate'), challenge)
})

test('A deletion without a name is refused, so that it never deletes the whole collection', async () => {
  const { gallery } = testConsole
  for (const path of ['/api/v1/recognition/subjects/', '/api/v1/recognition/faces/']) {
    const response = await send({ method: 'DELETE', path }, { 'x-api-key': gallery.key })
    assert.equal(response.status, 404, path)
    await response.arrayBuffer()
  }
})

test('A revoked key gets the same challenge', async () => {
  const { owner, gallery, projectId } = testConsole
  const created = await owner.send('POST', '/keys', {
    projectId,
    name: 'revoked',
    permissions: ['svc.detect'],
  })
  const { keyId, key } = created.body
  const revoked = await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: 'revoked' })
  assert.equal(revoked.status, 200, revoked.text)
  const response = await gallery.withKey(key).post({ action: 'svc.detect', params: {} })
  assert.equal(response.status, 401)
  assert.match(response.headers.get('www-authenticate') ?? '', /^ApiKey /u)
})

test('An address may read the session state 100 times at once without a session, not once more', async () => {
  const guest = testConsole.newClient()
  const read = (ip: string) =>
    guest.raw('GET', '/session', { origin: testConsole.url, 'x-forwarded-for': ip })
  for (let count = 0; count < 100; count++) assert.equal((await read('192.0.2.1')).status, 200)
  const limited = await read('192.0.2.1')
  assert.equal(limited.status, 429)
  assert.equal(limited.headers.get('retry-after'), '1')
  assert.equal((await read('192.0.2.2')).status, 200, 'another address is not limited')
  nowMs += 1000
  assert.equal((await read('192.0.2.1')).status, 200)
})

test('A session is not limited by the requests without one', async () => {
  const { owner, url } = testConsole
  const headers = { 'x-forwarded-for': '192.0.2.3' }
  const guest = testConsole.newClient()
  for (let count = 0; count <= 100; count++) await guest.raw('GET', '/session', headers)
  const response = await owner.raw('GET', '/session', { ...headers, cookie: owner.cookie() })
  assert.equal(response.status, 200, url)
})
