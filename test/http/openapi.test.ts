import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { allActions } from '../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../src/actions/schemas/json-schema.ts'
import { docsPage } from '../../src/http/openapi/docs-page.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { errorTable } from '../../src/lib/errors.ts'
import {
  createGalleryClient,
  imageParams,
  startGallery,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

type OpenApiNode = { readonly [key: string]: OpenApiNode }

/** As a client gets it: text. */
const description = JSON.parse(
  JSON.stringify(openApiDocument('test', { bodyBytesMax: 1000 })),
) as OpenApiNode

/** What stands at a `#/…` place. @throws AssertionError when nothing does. */
function resolveRef(ref: string): OpenApiNode {
  const found = ref
    .slice('#/'.length)
    .split('/')
    .reduce<OpenApiNode | undefined>((place, step) => place?.[step], description)
  assert.ok(found, ref)
  return found
}

/** Follows a reference. */
function dereference(thing: OpenApiNode | undefined): OpenApiNode {
  assert.ok(thing)
  const { $ref } = thing
  return typeof $ref === 'string' ? resolveRef($ref) : thing
}

/** A validator of a described schema, made by another road than the one that described it. */
function validatorOf(schema: OpenApiNode | undefined): z.ZodType {
  const whole = { ...schema, $defs: description['components']?.['schemas'] }
  const text = JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')
  return z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema)
}

const jsonContentOf = (thing: OpenApiNode | undefined): OpenApiNode =>
  dereference(thing)['content']?.['application/json'] ?? {}

type ReceivedResponse = {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Holds an answer against what is said of the operation: status, headers, body. */
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
  const known = new Set(Object.keys(response['headers'] ?? {}).map((name) => name.toLowerCase()))
  for (const [name] of headers)
    if (/^(x-|ratelimit-|retry-after|allow)/u.test(name)) assert.ok(known.has(name), name)
}

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

test('the examples are of the schemas they stand for, and the service takes them', () => {
  const execute = description['paths']?.['/v1/face/execute']?.['post']
  const said = {
    request: jsonContentOf(execute?.['requestBody']),
    answer: jsonContentOf(execute?.['responses']?.['200']),
  }
  for (const { schema, examples } of Object.values(said)) {
    const validator = validatorOf(schema)
    const all = Object.values(examples ?? {})
    assert.ok(all.length >= allActions.length)
    for (const example of all) validator.parse(dereference(example)['value'])
  }
  for (const { name, params } of allActions)
    params.parse(resolveRef(`#/components/examples/${name}.request`)['value']?.['params'])
  for (const { value, example } of restRoutes) assert.deepEqual(value.parse(example), example)
})

test('every code has a status, a condition and a remedy', () => {
  const told = JSON.stringify(description)
  for (const [code, { condition, remedy }] of Object.entries(errorTable))
    for (const text of [code, condition, remedy])
      assert.ok(told.includes(JSON.stringify(text).slice(1, -1)), text)
})

test('the page for people names every parameter of every action', () => {
  const sections = docsPage('test').split('<section')
  for (const action of allActions) {
    const section = sections.find((text) => text.includes(`<h3>${action.name}</h3>`)) ?? ''
    const names = Object.keys(toParamsSchema(action).properties)
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(section.includes(`<code>${name}</code>`), name)
  }
})

test('every operation has a name of its own, a summary, a description and a tag', () => {
  const operations = Object.values(description['paths'] ?? {}).flatMap((path) =>
    Object.values(path),
  )
  const names = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(names).size, names.length)
  for (const { summary, description: text, tags } of operations) assert.ok(summary && text && tags)
})

test('a validator of the description tells right from wrong', () => {
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

test('what the service answers is what the description says', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const told = (answer: ReceivedResponse): void =>
    assertDescribed('/v1/face/execute', 'post', answer)
  const requestId = randomUUID()
  const enrolled = await client.call('svc.enroll', { ...imageParams('Ada'), groups: ['staff'] })
  const { subjectId } = enrolled.body.data.results[0].value
  told(enrolled)
  for (const [action, params, more] of [
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
    told(await client.call(action, params, more))

  for (const [path, place] of [
    ['/v1/subjects', '/v1/subjects?limit=1'],
    ['/v1/subjects', '/v1/subjects?limit=0'],
    ['/v1/subjects/{subjectId}', `/v1/subjects/${subjectId}?include=faces`],
    ['/v1/subjects/{subjectId}', `/v1/subjects/${randomUUID()}`],
    ['/v1/groups', '/v1/groups'],
  ] as const)
    assertDescribed(path, 'get', await client.rest('GET', place))
  for (const place of ['/v1/groups/staff?dryRun=true', '/v1/groups/staff', '/v1/groups/staff'])
    assertDescribed('/v1/groups/{name}', 'delete', await client.rest('DELETE', place))
  assertDescribed('/v1/deletions', 'get', await client.rest('GET', '/v1/deletions'))
  assertDescribed('/v1/deletions', 'get', await client.rest('POST', '/v1/deletions'))

  told(await client.post('{'))
  told(await client.post('{}', { 'content-type': 'text/plain' }))
  told(await client.post('{}', { 'x-api-version': '2' }))
  told(await client.post(`"${'x'.repeat(26_000_000)}"`))
  told(await gallery.withKey('fsk_live_x').call('svc.detect', {}))
})

test('a project at its limit is answered as described, action and route', async () => {
  await using small = await startGallery({
    environment: { RATE_BURST: '1', RATE_SUSTAINED_PER_S: '1' },
  })
  const client = createGalleryClient(small)
  // A slow machine may gather a token between two calls, but not for ever.
  let limited = await client.rest('GET', '/v1/groups')
  while (limited.status === 200) limited = await client.rest('GET', '/v1/groups')
  assert.equal(limited.status, 429)
  assertDescribed('/v1/groups', 'get', limited)
  let refused = await client.call('svc.detect', imageParams('Ada'))
  while (refused.body.ok) refused = await client.call('svc.detect', imageParams('Ada'))
  assert.equal(refused.body.errors[0].code, 'RATE_LIMITED')
  assert.ok(refused.headers.get('retry-after'))
  assertDescribed('/v1/face/execute', 'post', refused)
})

function imageItemOf(...people: readonly string[]): unknown {
  return (imageParams(...people) as { readonly images: readonly unknown[] }).images[0]
}
