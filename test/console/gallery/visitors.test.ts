import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { createOwnedVisitorProject } from '../../support/console/visitor-project.ts'
import { takeOf, visit } from '../../support/gallery/visitors.ts'
import type { GalleryClient } from '../../support/gallery/test-gallery.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = (path: string) => testConsole.owner.get(path)

const createProject = (switches?: object) => createOwnedVisitorProject(testConsole, switches)

const enroll = async (client: GalleryClient, name: string, take = 0) =>
  (await client.value('svc.enroll', { ...takeOf(name, take), displayName: name })).subjectId

async function lastEntry() {
  const { items } = assertOk(await get('/audit?limit=1')).body
  return items[0]
}

test('A visitor is shown with its stored pictures, and other ids show nothing', async () => {
  const { client, path } = await createProject({ storeCrops: true })
  const visitorId = await visit(client, 'Zoe')
  const subjectId = await enroll(client, 'Ann')
  const { body: visitor } = assertOk(await get(`${path}/visitors/${visitorId}`))
  assert.deepEqual(
    [visitor.visitCount, visitor.embeddingCount, visitor.ignored],
    [1, 1, false],
    JSON.stringify(visitor),
  )
  assert.equal((await get(`${path}/visitors/${randomUUID()}`)).status, 404)
  assert.equal((await get(`${path}/visitors/${subjectId}`)).status, 404, 'a subject is no visitor')
  assert.equal((await get(`${path}/subjects/${visitorId}`)).status, 404)
  const ids = `${visitorId},${subjectId},${randomUUID()}`
  const cropsOf = async (project: string) =>
    assertOk(await get(`${project}/cropped-faces?subjectIds=${ids}`)).body.items
  const crops: { subjectId: string; faceId: string }[] = await cropsOf(path)
  assert.equal(crops.length, 2)
  assert.deepEqual(new Set(crops.map((crop) => crop.subjectId)), new Set([visitorId, subjectId]))
  const { faceId } = crops.find((crop) => crop.subjectId === visitorId) ?? {}
  const crop = (project: string, person: string) =>
    get(`${project}/subjects/${person}/faces/${faceId}/crop`)
  const picture = assertOk(await crop(path, visitorId))
  assert.equal(picture.headers.get('content-type'), 'image/jpeg')
  assert.equal((await crop(path, subjectId)).status, 404, 'the face of another person')
  const other = await createProject()
  assert.deepEqual(await cropsOf(other.path), [])
  assert.equal((await crop(other.path, visitorId)).status, 404)
})

test('Visitors are listed in both orders and directions, and their pages open both ways', async () => {
  const { client, path } = await createProject()
  const ids: string[] = []
  for (const [name, visits] of Object.entries({ Vic: 1, Val: 3, Vin: 2, Vera: 1 }))
    for (let take = 0; take < visits; take++)
      ids[ids.length - (take && 1)] = await visit(client, name, take)
  const [vic, val, vin, vera] = ids
  const page = async (query: string) =>
    assertOk(await get(`${path}/visitors?limit=2&${query}`)).body
  const idsOf = ({ items }: { items: { visitorId: string }[] }) =>
    items.map((item) => item.visitorId)
  const [once, other] = String(vic) < String(vera) ? [vic, vera] : [vera, vic]
  for (const [sort, expected] of Object.entries({
    '-seen': [vera, vin, val, vic],
    seen: [vic, val, vin, vera],
    '-visits': [val, vin, other, once],
    visits: [once, other, vin, val],
  })) {
    const first = await page(`sort=${sort}`)
    const second = await page(`sort=${sort}&cursor=${first.nextCursor}`)
    assert.deepEqual([...idsOf(first), ...idsOf(second)], expected, sort)
    assert.deepEqual([first.previousCursor, second.nextCursor], [null, null])
    assert.deepEqual(
      idsOf(await page(`sort=${sort}&cursor=${second.previousCursor}`)),
      idsOf(first),
    )
  }
  const { nextCursor } = await page('sort=visits')
  assert.equal((await get(`${path}/visitors?sort=seen&cursor=${nextCursor}`)).status, 422)
})

test('A visitor is enrolled or merged, with an audit entry in the same transaction', async () => {
  const { client, path } = await createProject()
  const [first, second] = [await visit(client, 'Zoe'), await visit(client, 'Max')]
  const promote = (id: string, body: object) => send('POST', `${path}/visitors/${id}/promote`, body)
  await client.value('svc.enroll', { ...takeOf('Holder', 0), externalId: 'taken' })
  const before = await lastEntry()
  assert.equal((await promote(first, { externalId: 'taken' })).status, 409)
  assert.equal((await promote(first, { unknown: 1 })).status, 422)
  assert.equal((await promote(randomUUID(), {})).status, 404)
  assert.deepEqual(await lastEntry(), before, 'a refused change has no entry')
  const fields = { externalId: 'e-1', displayName: 'Sam', groups: ['guests'] }
  const { body: subject } = assertOk(await promote(first.toUpperCase(), fields))
  assert.deepEqual(
    [subject.externalId, subject.groups, subject.embeddingCount],
    ['e-1', ['guests'], 1],
  )
  const { projectId } = client.project
  const promoted = await lastEntry()
  assert.deepEqual([promoted.auditAction, promoted.target], ['visitor.promote', first])
  assert.deepEqual(promoted.detail, { subjectId: subject.subjectId, projectId })
  const found = await client.value('svc.identify', takeOf('Zoe', 5))
  assert.equal(found.bestMatch.subjectId, subject.subjectId, 'the search follows the change')

  const merge = (id: string, subjectId: string) =>
    send('POST', `${path}/visitors/${id}/merge`, { subjectId })
  assert.equal((await merge(second, randomUUID())).status, 404)
  const { body: merged } = assertOk(await merge(second, subject.subjectId))
  assert.deepEqual([merged.subjectId, merged.embeddingCount], [subject.subjectId, 2])
  const entry = await lastEntry()
  assert.deepEqual([entry.auditAction, entry.target], ['visitor.merge', second])
  assert.equal((await get(`${path}/visitors/${second}`)).status, 404)
  assert.equal((await merge(second, subject.subjectId)).status, 404)
})

test('A visitor is ignored, and deleted after its short id is repeated', async () => {
  const { client, path } = await createProject()
  const visitorId = await visit(client, 'Zoe')
  await visit(client, 'Max')
  const ignore = (ignored: boolean) =>
    send('POST', `${path}/visitors/${visitorId}/ignore`, { ignored })
  const listed = async (ignored: string) => {
    const { body } = assertOk(await get(`${path}/visitors?total=true&ignored=${ignored}`))
    assert.equal(body.total, body.items.length)
    return body.total
  }
  assertOk(await ignore(true))
  assert.deepEqual((await lastEntry()).detail, {
    ignored: true,
    projectId: client.project.projectId,
  })
  assert.deepEqual([await listed('true'), await listed('false'), await listed('all')], [1, 1, 2])
  assertOk(await ignore(false))
  assert.equal(await listed('true'), 0)
  const remove = (confirm: string) => send('DELETE', `${path}/visitors/${visitorId}`, { confirm })
  assert.equal((await remove('no')).status, 422)
  const { body: record } = assertOk(await remove(visitorId.slice(0, 8)))
  assert.deepEqual([record.subjectId, record.embeddingCount], [visitorId, 1])
  const entry = await lastEntry()
  assert.deepEqual(
    [entry.auditAction, entry.detail.deletionId],
    ['visitor.delete', record.deletionId],
  )
  assert.equal((await remove(visitorId.slice(0, 8))).status, 404)
  assert.notEqual(await visit(client, 'Zoe', 1), visitorId, 'the search does not find it')
})

test('The visitors of a subject are found, and an unknown subject has none', async () => {
  const { client, path } = await createProject()
  const visitorId = await visit(client, 'Zoe')
  await visit(client, 'Max')
  const subjectId = await enroll(client, 'Zoe', 1)
  const visitorsOf = (id: string) => get(`${path}/subjects/${id}/visitors`)
  const { items } = assertOk(await visitorsOf(subjectId)).body
  assert.deepEqual(
    items.map((item: { visitorId: string }) => item.visitorId),
    [visitorId],
  )
  assert.ok(items[0].similarity >= 0.8)
  for (const id of [randomUUID(), visitorId, 'x'])
    assert.equal((await visitorsOf(id)).status, 404, id)
})

test('A shorter retention of visitors requires the number that its next run deletes', async () => {
  const { client, path } = await createProject()
  const visitorId = await visit(client, 'Zoe')
  await visit(client, 'Max')
  const { store } = testConsole.gallery.database
  const lastSeenAtUtc = new Date(Date.now() - 8 * 86_400_000).toISOString()
  const old = store.db.updateTable('subjects').set({ lastSeenAtUtc })
  await old.where('subjectId', '=', visitorId).execute()
  const lossesOf = async (days: number) =>
    assertOk(await get(`${path}/losses?visitorRetentionDays=${days}`)).body
  const { visitorRetention, retention } = await lossesOf(7)
  assert.deepEqual(
    [visitorRetention.days, visitorRetention.previousDays, visitorRetention.deleted],
    [7, 30, { total: 1, isCapped: false }],
  )
  assert.equal(retention, undefined)
  assert.equal((await lossesOf(9)).visitorRetention.deleted.total, 0)
  for (const days of ['0', '91', 'x', '1.5', ''])
    assert.equal((await get(`${path}/losses?visitorRetentionDays=${days}`)).status, 422, days)
  const refused = await send('PATCH', path, { visitorRetentionDays: 7 })
  assert.equal(refused.status, 409)
  assert.match(refused.body.detail, /would delete 1 visitors, but 0 were confirmed/u)
  assertOk(await send('PATCH', path, { visitorRetentionDays: 9 }))
  const confirmed = { visitorRetentionDays: 7, confirmedLosses: { visitors: 1 } }
  assert.equal(assertOk(await send('PATCH', path, confirmed)).body.visitorRetentionDays, 7)
  assertOk(await send('PATCH', path, { visitorRetentionDays: 90 }))
})
