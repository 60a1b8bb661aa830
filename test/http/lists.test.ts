import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { listCountMax } from '../../src/lib/limits/list-limits.ts'
import { fillSubjects } from '../support/gallery/fill-subjects.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

let nowMs = Date.UTC(2026, 0, 1)
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ clock: () => nowMs })
})
after(() => gallery[Symbol.asyncDispose]())

const createClient = () => gallery.createProjectClient({ galleryMode: 'isolated' })

async function enroll(client: GalleryClient, externalId: string, params: object = {}) {
  nowMs += 1000
  const sent = { ...imageParams(externalId), externalId, duplicateCheck: 'off', ...params }
  return client.value('svc.enroll', sent)
}

async function deleteByExternalId(client: GalleryClient, externalId: string): Promise<void> {
  const { items } = await get(client, `/v1/subjects?externalId=${externalId}`)
  await client.value('svc.deleteSubject', { subjectId: items[0].subjectId })
}

async function get(client: GalleryClient, path: string) {
  const { status, body } = await client.rest('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Reads all pages of a list. @returns the external ids. */
async function readAll(client: GalleryClient, path: string, limit = 2): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await get(client, `${path}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`)
    ids.push(...page.items.map(({ externalId }: { externalId: string }) => externalId))
    cursor = page.nextCursor
  }
  return ids
}

test('Subjects are listed by creation and by last change, in both directions and in pages', async () => {
  const client = await createClient()
  for (const id of ['a', 'b', 'c', 'd', 'e']) await enroll(client, id)
  for (const externalId of ['b', 'a']) {
    nowMs += 1000
    await client.value('svc.updateSubject', { externalId, displayName: 'changed' })
  }
  for (const [sort, expected] of [
    ['created', 'abcde'],
    ['-created', 'edcba'],
    ['updated', 'cdeba'],
    ['-updated', 'abedc'],
  ] as const) {
    assert.equal((await readAll(client, `/v1/subjects?sort=${sort}`)).join(''), expected, sort)
    const named = await readAll(client, `/v1/subjects?sort=${sort}&q=changed`, 1)
    assert.equal(named.join(''), expected.replaceAll(/[cde]/gu, ''))
  }
  assert.deepEqual(await readAll(client, '/v1/subjects?'), ['a', 'b', 'c', 'd', 'e'])
})

test('Pages stay stable while subjects are added, and a cursor of another order is refused', async () => {
  const client = await createClient()
  for (const id of ['a', 'b', 'c']) await enroll(client, id)
  const first = await get(client, '/v1/subjects?sort=-created&limit=2')
  await enroll(client, 'd')
  const { nextCursor } = first
  const second = await get(client, `/v1/subjects?sort=-created&limit=2&cursor=${nextCursor}`)
  assert.deepEqual(
    second.items.map(({ externalId }: { externalId: string }) => externalId),
    ['a'],
  )
  for (const sort of ['created', 'updated', '-updated']) {
    const { status, body } = await client.rest(
      'GET',
      `/v1/subjects?sort=${sort}&cursor=${nextCursor}`,
    )
    assert.equal(status, 400)
    assert.match(body.detail, /cursor/u)
  }
})

test('The total counts the subjects of all pages, with any conditions', async () => {
  const client = await createClient()
  const expiresAtUtc = new Date(nowMs + 100_000).toISOString()
  for (const id of ['a', 'b', 'c']) await enroll(client, id, { groups: ['staff'] })
  await enroll(client, 'guest', { expiresAtUtc, groups: ['staff', 'guests'] })
  const total = async (query: string) =>
    (await get(client, `/v1/subjects?limit=1&total=true&${query}`)).total
  assert.deepEqual([await total(''), await total('group=staff'), await total('q=GUE')], [4, 4, 1])
  assert.deepEqual([await total('externalId=b'), await total('group=none')], [1, 0])
  nowMs += 100_000
  assert.deepEqual([await total(''), await total('group=staff'), await total('q=gue')], [3, 3, 0])
  const { nextCursor } = await get(client, '/v1/subjects?limit=1')
  assert.equal(await total(`cursor=${nextCursor}`), 3)
  assert.equal((await get(client, '/v1/subjects')).total, undefined)
})

test('Subjects are filtered by a top-level attribute, also after a change', async () => {
  const client = await createClient()
  await enroll(client, 'a', { attributes: { team: 'Tür=1', floor: 3, key: true } })
  await enroll(client, 'b', { attributes: { team: 'Tür=1', floor: '3', nested: { team: 'x' } } })
  await enroll(client, 'c', { attributes: { team: 'other', floor: 0.5, none: null } })
  const find = (attribute: string, more = '') =>
    readAll(client, `/v1/subjects?attribute=${encodeURIComponent(attribute)}${more}`)
  assert.deepEqual(await find('team=Tür=1'), ['a', 'b'])
  assert.deepEqual(await find('team=Tür=1', '&sort=-created'), ['b', 'a'])
  assert.deepEqual(await find('floor=3'), ['a', 'b'])
  assert.deepEqual(await find('key=true', '&q=A'), ['a'])
  for (const absent of ['floor=0.5', 'none=null', 'nested={"team":"x"}', 'team=tür=1', 'x='])
    assert.deepEqual(await find(absent), [], absent)
  await client.value('svc.updateSubject', { externalId: 'a', attributes: { team: 'new' } })
  assert.deepEqual(await find('team=Tür=1'), ['b'])
  assert.deepEqual(await find('team=new'), ['a'])
  const counted = await get(client, '/v1/subjects?attribute=floor%3D3&total=true')
  assert.equal(counted.total, 2)
  await deleteByExternalId(client, 'b')
  assert.deepEqual(await find('team=Tür=1'), [])
  const rows = await gallery.database.store.db
    .selectFrom('subjectAttributes')
    .select('value')
    .where('galleryId', '=', client.project.projectId)
    .execute()
  assert.ok(!rows.some(({ value }) => value.startsWith('Tür')), 'the deletion removes the row')
  const wrong = await client.rest('GET', '/v1/subjects?attribute=team')
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.detail, /attribute.*name=value/u)
})

test('An attribute of many subjects is found in the order of the list, and its total is capped', async () => {
  const client = await createClient()
  await enroll(client, 'first')
  const { db } = gallery.database.store
  const { projectId } = client.project
  await fillSubjects(gallery, client.project, listCountMax - 1)
  const added = { attributes: '{"site":"north"}' }
  const ids = await db
    .selectFrom('subjects')
    .select('subjectId')
    .where('galleryId', '=', projectId)
    .execute()
  for (let index = 0; index < ids.length; index += 500) {
    const part = ids.slice(index, index + 500).map(({ subjectId }) => subjectId)
    await db.updateTable('subjects').set(added).where('subjectId', 'in', part).execute()
  }
  const path = '/v1/subjects?attribute=site%3Dnorth&limit=2'
  const { items, total, totalIsCapped } = await get(client, `${path}&total=true`)
  assert.deepEqual([items.length, total, totalIsCapped], [2, listCountMax, true])
  const newest = await get(client, `${path}&sort=-created`)
  const oldest = await get(client, `${path}&sort=created`)
  assert.ok(newest.items[0].createdAtUtc >= oldest.items[0].createdAtUtc)
  await deleteByExternalId(client, 'first')
  const after = await get(client, `${path}&total=true`)
  assert.deepEqual([after.total, after.totalIsCapped], [listCountMax, undefined])
})

test('Deletion records are listed in both directions and counted', async () => {
  const client = await createClient()
  for (const id of ['a', 'b', 'c']) {
    await enroll(client, id)
    await deleteByExternalId(client, id)
  }
  assert.deepEqual(await readAll(client, '/v1/deletions?'), ['c', 'b', 'a'])
  assert.deepEqual(await readAll(client, '/v1/deletions?sort=deleted'), ['a', 'b', 'c'])
  assert.equal((await get(client, '/v1/deletions?total=true&limit=1')).total, 3)
  assert.equal((await get(client, '/v1/deletions?total=true&externalId=b')).total, 1)
  const { nextCursor } = await get(client, '/v1/deletions?limit=1')
  const other = await client.rest('GET', `/v1/deletions?sort=deleted&cursor=${nextCursor}`)
  assert.equal(other.status, 400)
})
