import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { openApiDocument } from '../../src/http/openapi/openapi.ts'
import { findCalls } from '../support/find-calls.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const unknownId = '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'

type ListedSubject = { readonly subjectId: string; readonly externalId: string }

test('Paging lists each subject once, even while others are enrolled', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const enrollGuest = (index: number) =>
    client.value('svc.enroll', { ...imageParams(`Guest ${index}`), externalId: `guest-${index}` })
  for (let index = 0; index < 7; index++) await enrollGuest(index)
  const listed: string[] = []
  let cursor: string | null = ''
  for (let index = 7; cursor !== null; index++) {
    const { body } = await client.rest(
      'GET',
      `/v1/subjects?limit=3${cursor && `&cursor=${cursor}`}`,
    )
    listed.push(...body.items.map(({ externalId }: ListedSubject) => externalId))
    cursor = body.nextCursor
    if (index < 9) await enrollGuest(index)
  }
  assert.deepEqual(
    listed,
    Array.from({ length: 9 }, (_, index) => `guest-${index}`),
  )
})

test('Subjects are found by id, name, group and time, and returned with their faces', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const enroll = (name: string, params: object) =>
    client.value('svc.enroll', { ...imageParams(name), ...params })
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
  assert.ok(!JSON.stringify(body).includes('ciphertext'))
})

test('A group is listed with its size, and deleted with all its subjects', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (let index = 0; index < 120; index++) {
    const groups = index % 2 === 0 ? ['even', 'all'] : ['all']
    await client.value('svc.enroll', {
      ...imageParams(`G ${index}`),
      groups,
      duplicateCheck: 'off',
    })
  }
  const { body: groupPage } = await client.rest('GET', '/v1/groups?limit=1')
  assert.deepEqual(groupPage.items, [{ name: 'all', subjectCount: 120 }])
  const nextPage = await client.rest('GET', `/v1/groups?cursor=${groupPage.nextCursor}`)
  const even = { name: 'even', subjectCount: 60 }
  assert.deepEqual(nextPage.body, { items: [even], nextCursor: null })
  const groupNumber = Buffer.from('1').toString('base64url')
  assert.equal((await client.rest('GET', `/v1/groups?cursor=${groupNumber}`)).status, 400)
  const dryRun = await client.rest('DELETE', '/v1/groups/even?dryRun=true')
  assert.deepEqual(dryRun.body, { group: 'even', dryRun: true, deletedCount: 60, records: [] })
  const deletion = await client.rest('DELETE', '/v1/groups/even')
  assert.equal(deletion.body.deletedCount, 60)
  assert.equal(deletion.body.records.length, 60)
  assert.deepEqual(deletion.body.records[0].groups, ['all', 'even'])
  assert.equal((await client.rest('DELETE', '/v1/groups/even')).status, 404)
  assert.equal((await client.value('svc.identify', imageParams('G 4'))).matched, false)
  assert.equal((await client.value('svc.identify', imageParams('G 5'))).matched, true)
  const deletedIds: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await client.rest('GET', `/v1/deletions?limit=25${cursor && `&cursor=${cursor}`}`)
    deletedIds.push(...page.body.items.map(({ subjectId }: ListedSubject) => subjectId))
    cursor = page.body.nextCursor
  }
  assert.equal(new Set(deletedIds).size, 60)
})

test('Routes return HTTP statuses, check permissions and are logged without costs', async () => {
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
  const invalid = await reader.rest('GET', '/v1/subjects?limit=0&unknown=1')
  assert.equal(invalid.status, 400)
  assert.match(invalid.body.detail, /limit.*unknown|unknown.*limit/u)
  for (const cursor of ['x', 'bnVsbA'])
    assert.equal((await reader.rest('GET', `/v1/subjects?cursor=${cursor}`)).status, 400)
  assert.equal((await reader.rest('GET', `/v1/subjects/${unknownId}`)).status, 404)
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

test('The OpenAPI document contains every route', () => {
  const document = openApiDocument('test') as { paths: Record<string, Record<string, unknown>> }
  for (const { method, path } of restRoutes) {
    const template = path.replaceAll(/:(\w+)/gu, '{$1}')
    assert.ok(document.paths[template]?.[method.toLowerCase()], template)
  }
  const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/gu)
  for (const [, pointer = ''] of refs) {
    const target = pointer
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)?.[key], document)
    assert.ok(target, pointer)
  }
})

test('A deletion of a group refuses unknown parameters and every body, and deletes nothing', async () => {
  await using gallery = await startGallery()
  await gallery.value('svc.enroll', { ...imageParams('ann'), groups: ['staff'] })
  for (const [query, body] of [
    ['?dryrun=true', undefined],
    ['', { dryRun: true }],
    ['', {}],
  ] as const) {
    const refused = await gallery.rest('DELETE', `/v1/groups/staff${query}`, body)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
  }
  const { body } = await gallery.rest('GET', '/v1/groups')
  assert.deepEqual(body.items, [{ name: 'staff', subjectCount: 1 }])
})
