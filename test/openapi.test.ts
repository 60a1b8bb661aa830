import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { allActions } from '../src/actions/all.ts'
import { paramsOf } from '../src/actions/params-of.ts'
import { docsPage } from '../src/http/docs.ts'
import { openApi } from '../src/http/openapi.ts'
import { restRoutes } from '../src/http/routes/all.ts'
import { errorTable } from '../src/lib/errors.ts'
import { galleryClient, images, startGallery, type TestGallery } from './gallery.ts'

type Json = { readonly [key: string]: Json }

/** As a client gets it: text. */
const description = JSON.parse(JSON.stringify(openApi('test', { bodyBytesMax: 1000 }))) as Json

/** What stands at a `#/…` place. @throws AssertionError when nothing does. */
function at(ref: string): Json {
  const found = ref
    .slice('#/'.length)
    .split('/')
    .reduce<Json | undefined>((place, step) => place?.[step], description)
  assert.ok(found, ref)
  return found
}

/** Follows a reference. */
function follow(thing: Json | undefined): Json {
  assert.ok(thing)
  const { $ref } = thing
  return typeof $ref === 'string' ? at($ref) : thing
}

/** A validator of a described schema, made by another road than the one that described it. */
function validatorOf(schema: Json | undefined): z.ZodType {
  const whole = { ...schema, $defs: description['components']?.['schemas'] }
  const text = JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')
  return z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema)
}

const jsonOf = (thing: Json | undefined): Json =>
  follow(thing)['content']?.['application/json'] ?? {}

type Told = { readonly status: number; readonly headers: Headers; readonly body: unknown }

/** Holds an answer against what is said of the operation: status, headers, body. */
function assertDescribed(path: string, method: string, { status, headers, body }: Told): void {
  const response = follow(description['paths']?.[path]?.[method]?.['responses']?.[String(status)])
  const result = validatorOf(jsonOf(response)['schema']).safeParse(body)
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
    request: jsonOf(execute?.['requestBody']),
    answer: jsonOf(execute?.['responses']?.['200']),
  }
  for (const { schema, examples } of Object.values(said)) {
    const validator = validatorOf(schema)
    const all = Object.values(examples ?? {})
    assert.ok(all.length >= allActions.length)
    for (const example of all) validator.parse(follow(example)['value'])
  }
  for (const { name, params } of allActions)
    params.parse(at(`#/components/examples/${name}.request`)['value']?.['params'])
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
    const names = Object.keys(paramsOf(action).properties)
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
  const request = validatorOf({ $ref: '#/components/schemas/Request' } as unknown as Json)
  const params = { subjectId: randomUUID() }
  assert.ok(request.safeParse({ action: 'svc.deleteSubject', params }).success)
  assert.ok(!request.safeParse({ action: 'svc.detect', params }).success)
  assert.ok(!request.safeParse({ action: 'svc.deleteSubject', params, extra: 1 }).success)
  const response = validatorOf({ $ref: '#/components/schemas/Response' } as unknown as Json)
  const empty = { requestId: randomUUID(), action: 'svc.detect', data: null, errors: [] }
  assert.ok(!response.safeParse({ ...empty, ok: true }).success)
  assert.ok(!response.safeParse({ ...empty, ok: false }).success)
})

test('what the service answers is what the description says', async () => {
  const client = await gallery.join({ galleryMode: 'isolated' })
  const told = (answer: Told): void => assertDescribed('/v1/face/execute', 'post', answer)
  const requestId = randomUUID()
  const enrolled = await client.call('svc.enroll', { ...images('Ada'), groups: ['staff'] })
  const { subjectId } = enrolled.body.data.results[0].value
  told(enrolled)
  for (const [action, params, more] of [
    ['svc.detect', images('Ada'), { requestId }],
    ['svc.detect', images('Ada'), { requestId }],
    ['svc.detect', images('Ben'), { requestId }],
    ['svc.identify', images('Ada'), { debug: true }],
    ['svc.identify', { images: [image('Ada'), image()] }, {}],
    ['svc.verify', { ...images('Ada'), subjectId }, {}],
    ['svc.verify', { images: [image('Ada'), image('Ben')] }, { debug: true }],
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
  told(await gallery.as('fsk_live_x').call('svc.detect', {}))
})

test('a project at its limit is answered as described, action and route', async () => {
  await using small = await startGallery({
    environment: { RATE_BURST: '1', RATE_SUSTAINED_PER_S: '1' },
  })
  const client = galleryClient(small)
  // A slow machine may gather a token between two calls, but not for ever.
  let limited = await client.rest('GET', '/v1/groups')
  while (limited.status === 200) limited = await client.rest('GET', '/v1/groups')
  assert.equal(limited.status, 429)
  assertDescribed('/v1/groups', 'get', limited)
  let refused = await client.call('svc.detect', images('Ada'))
  while (refused.body.ok) refused = await client.call('svc.detect', images('Ada'))
  assert.equal(refused.body.errors[0].code, 'RATE_LIMITED')
  assert.ok(refused.headers.get('retry-after'))
  assertDescribed('/v1/face/execute', 'post', refused)
})

function image(...people: readonly string[]): unknown {
  return (images(...people) as { readonly images: readonly unknown[] }).images[0]
}
