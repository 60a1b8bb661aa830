import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { allActions } from '../../src/actions/all-actions.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { errorTable } from '../../src/lib/errors.ts'
import { testEventType, webhookEventTypes } from '../../src/store/webhooks/event-types.ts'
import {
  createGalleryClient,
  imageParams,
  startGallery,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { openRawClient } from '../support/network/raw-client.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'

type OpenApiNode = { readonly [key: string]: OpenApiNode }

/** The description after serialization, as clients receive it. */
const description = JSON.parse(
  JSON.stringify(openApiDocument('test', { bodyBytesMax: 1000 })),
) as OpenApiNode

const operations = Object.values(description['paths'] ?? {}).flatMap((path) => Object.values(path))

/** Returns the value at a `#/…` reference. @throws AssertionError when there is none. */
function resolveRef(ref: string): OpenApiNode {
  const found = ref
    .slice('#/'.length)
    .split('/')
    .reduce<OpenApiNode | undefined>((node, key) => node?.[key], description)
  assert.ok(found, ref)
  return found
}

/** Follows a reference. */
function dereference(node: OpenApiNode | undefined): OpenApiNode {
  assert.ok(node)
  const { $ref } = node
  return typeof $ref === 'string' ? resolveRef($ref) : node
}

/** Creates a validator from the description, independent of the zod schemas of the service. */
function validatorOf(schema: OpenApiNode | undefined): z.ZodType {
  const complete = { ...schema, $defs: description['components']?.['schemas'] }
  const text = JSON.stringify(complete).replaceAll('#/components/schemas/', '#/$defs/')
  return z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema)
}

const jsonContentOf = (node: OpenApiNode | undefined): OpenApiNode =>
  dereference(node)['content']?.['application/json'] ?? {}

type ReceivedResponse = {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Checks a response against the described operation: status, headers, body. */
function assertDescribed(
  path: string,
  method: string,
  { status, headers, body }: ReceivedResponse,
): void {
  const response = dereference(
    description['paths']?.[path]?.[method]?.['responses']?.[String(status)],
  )
  const result = validatorOf(jsonContentOf(response)['schema']).safeParse(body)
  assert.ok(result.success, `${method} ${path} ${status}: ${result.error}\n${JSON.stringify(body)}`)
  const described = new Set(
    Object.keys(response['headers'] ?? {}).map((name) => name.toLowerCase()),
  )
  for (const [name] of headers)
    if (/^(x-request|ratelimit-|retry-after|allow)/u.test(name))
      assert.ok(described.has(name), name)
}

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

test('The examples match their schemas, and the service accepts them', () => {
  const execute = description['paths']?.['/v1/face/execute']?.['post']
  const contents = {
    request: jsonContentOf(execute?.['requestBody']),
    response: jsonContentOf(execute?.['responses']?.['200']),
  }
  for (const { schema, examples } of Object.values(contents)) {
    const validator = validatorOf(schema)
    const all = Object.values(examples ?? {})
    assert.ok(all.length >= allActions.length)
    for (const example of all) validator.parse(dereference(example)['value'])
  }
  for (const { name, params } of allActions)
    params.parse(resolveRef(`#/components/examples/${name}.request`)['value']?.['params'])
  for (const { value, example } of restRoutes) assert.deepEqual(value.parse(example), example)
})

test('The hints of the examples are the remedies of their codes', () => {
  const errors = [
    ...JSON.stringify(description).matchAll(/"code":"([A-Z_]+)"[^}]*"hint":"([^"]+)"/gu),
  ]
  assert.ok(errors.length >= 2)
  for (const [, code = '', hint] of errors)
    assert.equal(hint, errorTable[code as keyof typeof errorTable].remedy)
})

test('The description contains every error code with its condition and remedy', () => {
  const text = JSON.stringify(description)
  for (const [code, { condition, remedy }] of Object.entries(errorTable))
    for (const part of [code, condition, remedy])
      assert.ok(text.includes(JSON.stringify(part).slice(1, -1)), part)
})

test('Every operation has a unique name, a summary, a description and a tag', () => {
  const names = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(names).size, names.length)
  for (const { summary, description: text, tags } of operations) assert.ok(summary && text && tags)
})

test('Validators from the description accept valid data and reject invalid data', () => {
  const request = validatorOf({ $ref: '#/components/schemas/Request' } as unknown as OpenApiNode)
  const params = { subjectId: randomUUID() }
  assert.ok(request.safeParse({ action: 'svc.deleteSubject', params }).success)
  assert.ok(!request.safeParse({ action: 'svc.detect', params }).success)
  assert.ok(!request.safeParse({ action: 'svc.deleteSubject', params, extra: 1 }).success)
  const response = validatorOf({ $ref: '#/components/schemas/Response' } as unknown as OpenApiNode)
  const empty = { requestId: randomUUID(), action: 'svc.detect', data: null, errors: [] }
  assert.ok(!response.safeParse({ ...empty, ok: true }).success)
  assert.ok(!response.safeParse({ ...empty, ok: false }).success)
})

test('Requests have no prefixItems, and no field that can be omitted has a default', () => {
  const schemas = description['components']?.['schemas'] ?? {}
  const requests = Object.entries(schemas).filter(([name]) => /(?:Params|Request)$/u.test(name))
  assert.ok(requests.length >= 2 * allActions.length)
  for (const [name, schema] of requests)
    assert.doesNotMatch(JSON.stringify(schema), /"prefixItems"|"default":/u, name)
  const bodies = operations.flatMap(({ requestBody }) => requestBody ?? []).map(jsonContentOf)
  assert.ok(bodies.length > 5)
  for (const { schema } of bodies)
    assert.doesNotMatch(JSON.stringify(dereference(schema)), /"default":/u)
  assert.equal(schemas['VisitorPromotion']?.['required'], undefined)
  const images = schemas['DetectParams']?.['properties']?.['images']
  assert.deepEqual(images?.['items'], { $ref: '#/components/schemas/ImageItem' })
  assert.deepEqual([images?.['minItems'], images?.['maxItems']], [1, 10])
  const confidence = schemas['DetectParams']?.['properties']?.['minFaceConfidence']
  assert.match(JSON.stringify(confidence?.['description']), /are ignored\. Default: `0\.6`\."$/u)
})

test('A parameter of a query or a header has its default in its description, and no keyword', () => {
  const described = Object.values(description['paths'] ?? {}).flatMap(Object.values)
  const parameters = described.flatMap(({ parameters: listed }) => listed ?? [])
  assert.ok(parameters.length > 20)
  for (const parameter of parameters)
    assert.doesNotMatch(JSON.stringify(parameter), /"default":/u, parameter.name)
  const describedDefaultOf = (name: string) =>
    /Default: `(?<value>.*)`\.$/u.exec(
      parameters.find((parameter) => parameter.name === name)?.description,
    )?.groups?.['value']
  assert.equal(describedDefaultOf('limit'), '50')
  assert.equal(describedDefaultOf('X-Api-Version'), '"1"')
})

test('Patterns have no syntax that Python, Go or Java lack', () => {
  const patterns = new Set<string>()
  JSON.stringify(description, (keyword, value: unknown) => {
    if (keyword === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  })
  assert.ok(patterns.size >= 4)
  // Lookaround, back references, named groups, `[^]` and escapes of JavaScript.
  for (const pattern of patterns)
    assert.doesNotMatch(pattern, /\(\?[=!<]|\\[1-9uckx]|\[\^?\]|\{\d{4,}/u, pattern)
})

test('The flags of a query are booleans, and each operation describes the statuses it can have', () => {
  const notFound = JSON.stringify(description['components']?.['responses'])
  assert.match(notFound, /no such subject or group, or the project no such liveness session/u)
  const parameterOf = (path: string, method: string, name: string) => {
    const list: unknown = description['paths']?.[path]?.[method]?.['parameters']
    return (list as { readonly name: string; readonly schema: unknown }[]).find(
      (one) => one.name === name,
    )
  }
  for (const [path, method, name] of [
    ['/v1/groups/{name}', 'delete', 'dryRun'],
    ['/v1/subjects', 'get', 'total'],
    ['/v1/deletions', 'get', 'total'],
  ] as const)
    assert.deepEqual(parameterOf(path, method, name)?.schema, { type: 'boolean' })
  for (const [path, operations] of Object.entries(description['paths'] ?? {}))
    for (const [method, { responses }] of Object.entries(operations)) {
      const statuses = Object.keys(responses ?? {})
      const shown = `${method} ${path}: ${statuses.join(' ')}`
      for (const status of ['400', '405', '408', '417', '431', '500', '503'])
        assert.ok(statuses.includes(status), shown)
      const hasIds = path.includes('{') || ['/v1/feedback', '/v1/visitors'].includes(path)
      assert.equal(statuses.includes('404'), hasIds, shown)
      // Calls of actions report it in the envelope, and the routes are free.
      assert.ok(!statuses.includes('402'), shown)
    }
})

test('The description contains every event of a webhook', () => {
  const types = [...Object.keys(webhookEventTypes), testEventType]
  assert.deepEqual(Object.keys(description['webhooks'] ?? {}).toSorted(), types.toSorted())
  for (const [type, { post }] of Object.entries(description['webhooks'] ?? {})) {
    const { schema } = jsonContentOf(post?.['requestBody'])
    const event = { id: 'evt_1', type, createdAtUtc: '2026-03-01T12:02:00.000Z', data: {} }
    assert.ok(!validatorOf(schema).safeParse(event).success, type)
  }
})

test('The description contains the number of omitted faces of an event', () => {
  for (const type of ['identify.matched', 'identify.unmatched', 'visitor.returned']) {
    const content = description['webhooks']?.[type]?.['post']?.['requestBody']?.['content']
    const data = content?.['application/json']?.['schema']?.['properties']?.['data']
    assert.deepEqual(data?.['properties']?.['omitted']?.['type'], 'integer', type)
  }
})

test('An unsupported Expect returns the status that the description contains', async () => {
  const client = await openRawClient(gallery.url)
  client.send('GET /v1/groups HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n')
  const [head = '', body = ''] = (await client.readToEnd()).split('\r\n\r\n')
  assert.match(head, /^HTTP\/1\.1 417 /u)
  assertDescribed('/v1/groups', 'get', {
    status: 417,
    headers: new Headers(),
    body: JSON.parse(body),
  })
})

test('Real responses match the description', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const assertCallDescribed = (response: ReceivedResponse): void =>
    assertDescribed('/v1/face/execute', 'post', response)
  const requestId = randomUUID()
  const enrolled = await client.call('svc.enroll', { ...imageParams('Ada'), groups: ['staff'] })
  const { subjectId } = enrolled.body.data.results[0].value
  assertCallDescribed(enrolled)
  for (const [action, params, fields] of [
    ['svc.detect', imageParams('Ada'), { requestId }],
    ['svc.detect', imageParams('Ada'), { requestId }],
    ['svc.detect', imageParams('Ben'), { requestId }],
    ['svc.identify', imageParams('Ada'), { debug: true }],
    ['svc.identify', { images: [imageItemOf('Ada'), imageItemOf()] }, {}],
    ['svc.verify', { ...imageParams('Ada'), subjectId }, {}],
    ['svc.verify', { images: [imageItemOf('Ada'), imageItemOf('Ben')] }, { debug: true }],
    ['svc.updateSubject', { subjectId, displayName: 'Ada' }, {}],
    ['svc.updateSubject', {}, {}],
    ['svc.dance', {}, {}],
    ['svc.deleteSubject', { subjectId: randomUUID() }, {}],
  ] as const)
    assertCallDescribed(await client.call(action, params, fields))

  for (const [path, url] of [
    ['/v1/subjects', '/v1/subjects?limit=1'],
    ['/v1/subjects', '/v1/subjects?limit=0'],
    ['/v1/subjects/{subjectId}', `/v1/subjects/${subjectId}?include=faces`],
    ['/v1/subjects/{subjectId}', `/v1/subjects/${randomUUID()}`],
    ['/v1/groups', '/v1/groups'],
  ] as const)
    assertDescribed(path, 'get', await client.rest('GET', url))
  for (const url of ['/v1/groups/staff?dryRun=true', '/v1/groups/staff', '/v1/groups/staff'])
    assertDescribed('/v1/groups/{name}', 'delete', await client.rest('DELETE', url))
  assertDescribed('/v1/deletions', 'get', await client.rest('GET', '/v1/deletions'))
  assertDescribed('/v1/deletions', 'get', await client.rest('POST', '/v1/deletions'))

  assertCallDescribed(await client.post('{'))
  assertCallDescribed(await client.post('{}', { 'content-type': 'text/plain' }))
  assertCallDescribed(await client.post('{}', { 'x-api-version': '2' }))
  assertCallDescribed(await client.post(`"${'x'.repeat(26_000_000)}"`))
  assertCallDescribed(await gallery.withKey('fsk_live_x').call('svc.detect', {}))
})

test('Responses above the rate limit match the description, for actions and routes', async () => {
  await using limitedGallery = await startGallery({
    environment: { RATE_BURST: '1', RATE_SUSTAINED_PER_S: '1' },
    wrapStore: createTestSteadyClock().wrapStore,
  })
  const client = createGalleryClient(limitedGallery)
  assert.equal((await client.rest('GET', '/v1/groups')).status, 200)
  const limited = await client.rest('GET', '/v1/groups')
  assert.equal(limited.status, 429)
  assertDescribed('/v1/groups', 'get', limited)
  const rejected = await client.call('svc.detect', imageParams('Ada'))
  assert.equal(rejected.body.errors[0].code, 'RATE_LIMITED')
  assert.ok(rejected.headers.get('retry-after'))
  assertDescribed('/v1/face/execute', 'post', rejected)
})

function imageItemOf(...people: readonly string[]): unknown {
  return (imageParams(...people) as { readonly images: readonly unknown[] }).images[0]
}
