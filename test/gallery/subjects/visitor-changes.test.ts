import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import {
  createVisitorProject,
  identify,
  listVisitors,
  setUnknownPeople,
  takeOf,
  visit,
} from '../../support/gallery/visitors.ts'

const dayMs = 86_400_000
let nowMs = Date.parse('2030-03-01T08:00:00.000Z')
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ clock: () => nowMs })
})
after(() => gallery[Symbol.asyncDispose]())

type Deleted = { readonly subjectId: string; readonly embeddingCount: number }

const sweep = () => runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep())

test('A promoted visitor is a subject, and its data is no longer among the visitors', async () => {
  const client = await createVisitorProject(gallery)
  await runJson(gallery.dataDir, project, `set ${client.project.projectId} --store-crops on`)
  const visitorId = await visit(client, 'Zoe')
  await identify(client, imageParams({ name: 'Zoe', deviation: 0.6, take: 3 }))
  const fields = { externalId: 'e-1', displayName: 'Sam', groups: ['guests'], attributes: { a: 1 } }
  await client.value('svc.enroll', { ...takeOf('Holder', 0), externalId: 'taken' })
  const promote = (body: object) => client.rest('POST', `/v1/visitors/${visitorId}/promote`, body)
  const taken = await promote({ externalId: 'taken' })
  assert.equal(taken.status, 400)
  assert.match(taken.body.detail, /^another subject has this externalId\. Use another/u)
  const past = await promote({ expiresAtUtc: '2020-01-01T00:00:00Z' })
  assert.match(past.body.detail, /^expiresAtUtc: must be after/u)
  const unknown = await client.rest('GET', `/v1/visitors?subjectId=${randomUUID()}`)
  assert.equal(unknown.status, 404)
  assert.match(
    unknown.body.detail,
    /^subjectId: the gallery contains no subject with this subjectId\. /u,
  )
  const promoted = await promote(fields)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  const { subjectId, embeddingCount, ...rest } = promoted.body
  assert.deepEqual(
    [rest.externalId, rest.displayName, rest.groups, rest.attributes, embeddingCount],
    ['e-1', 'Sam', ['guests'], { a: 1 }, 2],
  )
  assert.notEqual(subjectId, visitorId)
  const { bestMatch } = await client.value('svc.identify', takeOf('Zoe', 5))
  assert.equal(bestMatch.subjectId, subjectId)
  assert.deepEqual(await listVisitors(client), [])
  const ended = await client.rest('GET', `/v1/visitors/${visitorId}`)
  assert.equal(ended.status, 404)
  assert.match(ended.body.detail, /^the gallery has no visitor with this visitorId\. List/u)
  assert.equal((await promote({})).status, 404)
  const { body } = await client.rest('GET', `/v1/deletions?visitors=true`)
  assert.deepEqual(
    body.items.map((record: Deleted) => [record.subjectId, record.embeddingCount]),
    [[visitorId, 2]],
  )
  assert.deepEqual((await client.rest('GET', '/v1/deletions')).body.items, [])
  const { body: shown } = await client.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  const store = gallery.database.store
  const crops = await store.read(async (tx) => {
    const row = await gallery.openedGallery.subjects.find(tx, client.project.projectId, {
      subjectId,
    })
    assert.ok(row)
    return Promise.all(
      shown.faces.map((face: { faceId: string }) =>
        gallery.openedGallery.subjects.readCrop(tx, row, face.faceId),
      ),
    )
  })
  assert.equal(
    crops.filter(Boolean).length,
    2,
    'the crops are readable with the key of the subject',
  )
  await client.value('svc.deleteSubject', { subjectId })
  assert.equal((await client.value('svc.identify', takeOf('Zoe', 5))).bestMatch, null)
})

test('The visitors of a subject are found and merged; a merge respects the limit of faces', async () => {
  const client = await createVisitorProject(gallery)
  const visitorId = await visit(client, 'Zoe')
  await visit(client, 'Other')
  const requestId = randomUUID()
  const { subjectId, visitors } = await client.value('svc.enroll', takeOf('Zoe', 1), { requestId })
  assert.deepEqual(
    visitors.map((one: { visitorId: string }) => one.visitorId),
    [visitorId],
  )
  assert.deepEqual((await client.value('svc.enroll', takeOf('Ann', 0))).visitors, [])
  const [similar, ...others] = await listVisitors(client, `?subjectId=${subjectId}`)
  assert.deepEqual([similar?.visitorId, others], [visitorId, []])
  assert.ok((similar?.similarity ?? 0) >= 0.8)
  assert.equal((await client.rest('GET', `/v1/visitors?subjectId=${randomUUID()}`)).status, 404)
  const merge = (body: object) => client.rest('POST', `/v1/visitors/${visitorId}/merge`, body)
  assert.equal((await merge({ subjectId: randomUUID() })).status, 404)
  const merged = await merge({ subjectId })
  assert.deepEqual(
    [merged.status, merged.body.subjectId, merged.body.embeddingCount],
    [200, subjectId, 2],
  )
  assert.equal((await merge({ subjectId })).status, 404)
  assert.deepEqual(await listVisitors(client, `?subjectId=${subjectId}`), [])
  const replay = await client.call('svc.enroll', takeOf('Zoe', 1), { requestId })
  assert.deepEqual(replay.body.data.results[0].value.visitors, undefined)
  assert.equal(replay.body.meta.redacted, true)
})

test('A promotion with an expiry needs the permission to delete', async () => {
  const client = await createVisitorProject(gallery)
  const visitorId = await visit(client, 'Zoe')
  const setPermissions = (permissions: readonly string[]) =>
    gallery.database.store.db
      .updateTable('keys')
      .set({ permissions: JSON.stringify(permissions) })
      .where('projectId', '=', client.project.projectId)
      .execute()
  const promote = (body: object) => client.rest('POST', `/v1/visitors/${visitorId}/promote`, body)
  const brief = { expiresAtUtc: new Date(nowMs + 1000).toISOString() }
  await setPermissions(['svc.enroll', 'subjects:read'])
  const refused = await promote(brief)
  assert.equal(refused.status, 403)
  assert.match(refused.body.detail, /^body\.expiresAtUtc: .*svc\.deleteSubject/u)
  assert.deepEqual(
    (await listVisitors(client)).map((one) => one.visitorId),
    [visitorId],
  )
  await setPermissions(['svc.enroll', 'svc.deleteSubject'])
  assert.equal((await promote(brief)).status, 200)
})

test('An ignored visitor is counted and listed separately', async () => {
  const client = await createVisitorProject(gallery)
  const visitorId = await visit(client, 'Zoe')
  const ignore = (ignored: boolean) =>
    client.rest('POST', `/v1/visitors/${visitorId}/ignore`, { ignored })
  assert.equal((await ignore(true)).body.ignored, true)
  assert.equal(await visit(client, 'Zoe', 1), visitorId)
  assert.deepEqual(await listVisitors(client), [])
  const [ignored] = await listVisitors(client, '?ignored=true')
  assert.deepEqual([ignored?.visitorId, ignored?.visitCount], [visitorId, 2])
  assert.equal((await listVisitors(client, '?ignored=all')).length, 1)
  assert.equal((await ignore(false)).body.ignored, false)
  assert.equal((await listVisitors(client)).length, 1)
})

test('The deletion of a visitor is recorded, and removes its id from stored responses', async () => {
  const client = await createVisitorProject(gallery)
  const requestId = randomUUID()
  const request = { action: 'svc.identify', requestId, params: takeOf('Zoe', 0) }
  const { body } = await client.post(request)
  const { visitorId } = body.data.results[0].value.faces[0]
  const deleted = await client.rest('DELETE', `/v1/visitors/${visitorId}`)
  assert.deepEqual([deleted.status, deleted.body.subjectId], [200, visitorId])
  const replay = await client.post(request)
  assert.equal(replay.body.meta.redacted, true)
  assert.ok(!JSON.stringify(replay.body).includes(visitorId))
  const { body: records } = await client.rest(
    'GET',
    `/v1/deletions?visitors=true&subjectId=${visitorId}`,
  )
  assert.equal(records.items.length, 1)
  assert.equal((await client.rest('DELETE', `/v1/visitors/${visitorId}`)).status, 404)
  assert.notEqual(await visit(client, 'Zoe', 1), visitorId)
})

test('Visitors of another project, or of another account, do not exist', async () => {
  const owner = await createVisitorProject(gallery)
  const visitorId = await visit(owner, 'Zoe')
  const { accountId } = owner.project
  const sibling = await gallery.createProjectClient({ galleryMode: 'isolated', accountId })
  for (const other of [sibling, await createVisitorProject(gallery)]) {
    assert.deepEqual(await listVisitors(other, '?ignored=all'), [])
    for (const [method, path, body] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/promote', {}],
      ['POST', '/merge', { subjectId: randomUUID() }],
      ['POST', '/ignore', { ignored: true }],
    ] as const) {
      const { status } = await other.rest(method, `/v1/visitors/${visitorId}${path}`, body)
      assert.equal(status, 404, `${method} ${path}`)
    }
  }
  const shared = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await setUnknownPeople(gallery, shared, '30')
  const common = await visit(shared, 'Zoe')
  assert.notEqual(common, visitorId)
  const other = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  assert.equal(
    (await listVisitors(other))[0]?.visitorId,
    common,
    'a shared gallery, shared visitors',
  )
})

test('No row of a visitor is left after the retention, also if the setting was switched off', async () => {
  const client = await createVisitorProject(gallery, '2')
  const { projectId } = client.project
  const gone = await visit(client, 'Gone')
  nowMs += dayMs
  const kept = await visit(client, 'Kept')
  await setUnknownPeople(gallery, client, 'off')
  nowMs += dayMs
  await sweep()
  assert.equal((await listVisitors(client)).length, 2, 'exactly two days old')
  nowMs += 1
  await sweep()
  assert.deepEqual(
    (await listVisitors(client)).map((one) => one.visitorId),
    [kept],
  )
  nowMs += dayMs
  await sweep()
  const galleryId = `${projectId}:visitors`
  const rows = await gallery.database.store.read(async ({ build, run }) => ({
    subjects: await run(
      build.selectFrom('subjects').select('subjectId').where('galleryId', '=', galleryId),
    ),
    faces: await run(build.selectFrom('faces').select('faceId').where('galleryId', '=', galleryId)),
    templates: await run(
      build.selectFrom('templates').select('faceId').where('galleryId', '=', galleryId),
    ),
  }))
  assert.deepEqual(rows, { subjects: [], faces: [], templates: [] })
  const { body } = await client.rest('GET', '/v1/deletions?visitors=true')
  assert.deepEqual(new Set(body.items.map((one: Deleted) => one.subjectId)), new Set([gone, kept]))
})

test('The deletion of a project deletes its visitors, also those in the shared gallery', async () => {
  const client = await createVisitorProject(gallery, '30', { galleryMode: 'shared' })
  const { accountId, projectId } = client.project
  const other = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await visit(client, 'Zoe')
  assert.equal((await listVisitors(other)).length, 1)
  await runJson(gallery.dataDir, project, `set ${projectId} --gallery isolated`)
  await visit(client, 'Zoe')
  const deleted = await runJson(gallery.dataDir, project, `delete ${projectId} --yes`)
  assert.equal(deleted.visitors, 2)
  const { db } = gallery.database.store
  const keys = db.selectFrom('galleryKeys').select('keyId')
  assert.deepEqual(await keys.where('galleryId', '=', `${projectId}:visitors`).execute(), [])
  assert.deepEqual(await listVisitors(other), [])
})
