import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { apiDescription } from '../../src/start/http-limits.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

const origin = 'https://app.example.org'
const environment = { CORS_ORIGINS: origin, COMPREFACE_API: 'on' }
const apiKeyChallenge = 'ApiKey realm="facegate", in="header", name="X-Api-Key"'

let standard: TestGallery
let permitting: TestGallery
before(async () => {
  standard = await startGallery({ environment })
  permitting = await startGallery({ environment: { ...environment, BEARER_KEYS: 'on' } })
})
after(async () => {
  await standard[Symbol.asyncDispose]()
  await permitting[Symbol.asyncDispose]()
})

const paths = ['/v1/groups', '/v1/face/execute', '/api/v1/recognition/subjects']

/** Returns the status and the credentials that a 401 names. */
async function send(
  { url }: TestGallery,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly [status: number, challenge: string | null]> {
  const isExecute = path.endsWith('/execute')
  const response = await fetch(url + path, {
    method: isExecute ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...headers },
    ...(isExecute && { body: '{"action":"svc.detect","params":{}}' }),
  })
  await response.arrayBuffer()
  return [response.status, response.headers.get('www-authenticate')]
}

test('By default X-Api-Key is the only credential, and Authorization is ignored', async () => {
  const { key } = standard
  for (const path of paths) {
    for (const scheme of ['Bearer', 'bearer', 'ApiKey'])
      assert.deepEqual(
        await send(standard, path, { authorization: `${scheme} ${key}` }),
        [401, apiKeyChallenge],
        path,
      )
    const proxied = { 'x-api-key': key, authorization: 'Bearer of-a-proxy' }
    assert.deepEqual(await send(standard, path, proxied), [200, null], path)
  }
})

test('With BEARER_KEYS=on a key is accepted in either header, and never two different keys', async () => {
  const { key } = permitting
  const challenge = `Bearer realm="facegate", ${apiKeyChallenge}`
  for (const path of paths) {
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer ${key}`, 'x-api-key': key },
      { authorization: 'Basic eDp5', 'x-api-key': key },
    ])
      assert.deepEqual(await send(permitting, path, headers), [200, null], JSON.stringify(headers))
    for (const headers of [
      { authorization: 'Basic eDp5' },
      { authorization: 'Bearer fsk_live_abc', 'x-api-key': key },
    ])
      assert.deepEqual(await send(permitting, path, headers), [401, challenge], path)
  }
})

test('Pages of other origins may send Authorization only with BEARER_KEYS=on', async () => {
  for (const [gallery, isPermitted] of [
    [standard, false],
    [permitting, true],
  ] as const) {
    const response = await fetch(`${gallery.url}/v1/groups`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    })
    const allowed = response.headers.get('access-control-allow-headers') ?? ''
    assert.equal(allowed.split(', ').includes('Authorization'), isPermitted, allowed)
  }
})

test('The OpenAPI description contains the bearer scheme only with BEARER_KEYS=on', () => {
  const securityOf = (settings: Readonly<Record<string, string>>) => {
    const { limits, extensions } = apiDescription(readConfig(settings))
    return openApiDocument('test', limits, extensions)['security']
  }
  assert.deepEqual(securityOf({}), [{ apiKey: [] }])
  assert.deepEqual(securityOf({ BEARER_KEYS: 'on' }), [{ apiKey: [] }, { bearerKey: [] }])
})
