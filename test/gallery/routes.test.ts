import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { docsPage } from '../../src/http/openapi/docs-page.ts'
import { findCalls } from '../../src/store/gate/calls.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

type ListedSubject = { readonly subjectId: string; readonly externalId: string }

test('subjects are listed page by page, and nobody twice while others are enrolled', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const add = (at: number) =>
    client.value('svc.enroll', { ...imageParams(`Guest ${at}`), externalId: `guest-${at}` })
  for (let at = 0; at < 7; at++) await add(at)
  const seen: string[] = []
  let cursor: string | null = ''
  for (let at = 7; cursor !== null; at++) {
    const { body } = await client.rest(
      'GET',
      `/v1/subjects?limit=3${cursor && `&cursor=${cursor}`}`,
    )
    seen.push(...body.items.map(({ externalId }: ListedSubject) => externalId))
    cursor = body.nextCursor
    if (at < 9) await add(at)
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 9 }, (_, at) => `guest-${at}`),
  )
})

test('subjects are found by id, name, group and time, with the facts of their faces', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const enroll = (name: string, more: object) =>
    client.value('svc.enroll', { ...imageParams(name), ...more })
  const { subjectId, faceId } = await enroll('A', {
    externalId: '100%_a',
    displayName: 'Anna Berg',
    groups: ['x'],
    attributes: { n: 1 },
  })
  await enroll('B', { externalId: '1000a', displayName: 'Bo' })
  const find = async (query: string) => {
    const { body } = await client.rest('GET', `/v1/subjects?${query}`)
    return body.items.map(({ externalId }: ListedSubject) => externalId)
  }
  assert.deepEqual(await find('q=anna'), ['100%_a'])
  assert.deepEqual(await find(`q=${encodeURIComponent('0%_')}`), ['100%_a'])
  assert.deepEqual(await find('externalId=1000a'), ['1000a'])
  assert.deepEqual(await find('group=x'), ['100%_a'])
  assert.deepEqual(await find('createdToUtc=2020-01-01T00:00:00Z'), [])
  const { body } = await client.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  assert.equal(body.displayName, 'Anna Berg')
  assert.deepEqual(body.attributes, { n: 1 })
  assert.equal(body.faces[0].faceId, faceId)
  assert.ok(!JSON.stringify(body).includes('sealed'))
})

test('a group is counted, deleted with all its subjects, and gone', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (let at = 0; at < 120; at++) {
    const groups = at % 2 === 0 ? ['even', 'all'] : ['all']
    await client.value('svc.enroll', { ...imageParams(`G ${at}`), groups, duplicateCheck: 'off' })
  }
  const { body } = await client.rest('GET', '/v1/groups')
  assert.deepEqual(body.items, [
    { name: 'all', subjectCount: 120 },
    { name: 'even', subjectCount: 60 },
  ])
  const dry = await client.rest('DELETE', '/v1/groups/even?dryRun=true')
  assert.deepEqual(dry.body, { group: 'even', deletedCount: 60, records: [] })
  const wet = await client.rest('DELETE', '/v1/groups/even')
  assert.equal(wet.body.deletedCount, 60)
  assert.equal(wet.body.records.length, 60)
  assert.deepEqual(wet.body.records[0].groups, ['all', 'even'])
  assert.equal((await client.rest('DELETE', '/v1/groups/even')).status, 404)
  assert.equal((await client.value('svc.identify', imageParams('G 4'))).matched, false)
  assert.equal((await client.value('svc.identify', imageParams('G 5'))).matched, true)
  const records: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await client.rest('GET', `/v1/deletions?limit=25${cursor && `&cursor=${cursor}`}`)
    records.push(...page.body.items.map(({ subjectId }: ListedSubject) => subjectId))
    cursor = page.body.nextCursor
  }
  assert.equal(new Set(records).size, 60)
})

test('routes answer by status, need their permission, count against the limit and are logged', async () => {
  const reader = await gallery.createProjectClient({
    galleryMode: 'isolated',
    permissions: ['subjects:read'],
  })
  assert.equal((await reader.rest('GET', '/v1/groups')).status, 200)
  for (const [method, path] of [
    ['GET', '/v1/deletions'],
    ['DELETE', '/v1/groups/x'],
  ] as const)
    assert.equal((await reader.rest(method, path)).status, 403)
  const wrong = await reader.rest('GET', '/v1/subjects?limit=0&nonsense=1')
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.detail, /limit.*nonsense|nonsense.*limit/u)
  for (const cursor of ['x', 'bnVsbA'])
    assert.equal((await reader.rest('GET', `/v1/subjects?cursor=${cursor}`)).status, 400)
  assert.equal((await reader.rest('GET', '/v1/subjects/nobody')).status, 404)
  assert.equal((await gallery.withKey('fsk_live_x').rest('GET', '/v1/subjects')).status, 401)
  const { projectId } = reader.project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 20 })
  assert.deepEqual(rows.map(({ code }) => code).toReversed(), [
    'OK',
    'FORBIDDEN',
    'FORBIDDEN',
    'INVALID_REQUEST',
    'INVALID_REQUEST',
    'INVALID_REQUEST',
    'SUBJECT_NOT_FOUND',
  ])
  assert.ok(rows.every(({ costMicros }) => costMicros === 0n))
})

test('every route stands in the OpenAPI description and in the documentation', () => {
  const description = openApiDocument('test') as { paths: Record<string, Record<string, unknown>> }
  const page = docsPage('test')
  for (const { method, path } of restRoutes) {
    const open = path.replaceAll(/:(\w+)/gu, '{$1}')
    assert.ok(description.paths[open]?.[method.toLowerCase()], open)
    assert.ok(page.includes(`${method} ${open}`), open)
  }
  const refs = JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/gu)
  for (const [, place = ''] of refs) {
    const target = place
      .split('/')
      .reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], description)
    assert.ok(target, place)
  }
})
