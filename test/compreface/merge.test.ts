import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { project } from '../../src/cli/tenancy/commands.ts'
import { runJson } from '../support/cli/run-json.ts'
import { fakeImageFile, sendCompreFace as send } from '../support/compreface/send.ts'
import { copyDatabase, isReadable, unwrapAllKeys } from '../support/gallery/database-copy.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { takeOf } from '../support/gallery/fake-vision.ts'

const subjectsPath = '/api/v1/recognition/subjects'

let gallery: TestGallery
before(async () => {
  const environment = { COMPREFACE_API: 'on', SUBJECT_TEMPLATES_MAX: '3' }
  gallery = await startGallery({ environment })
})
after(() => gallery[Symbol.asyncDispose]())

/** Enrolls pictures of one person under a name. @returns the ids of the faces. */
async function enroll(client: GalleryClient, subject: string, takes: readonly number[]) {
  const faceIds: string[] = []
  for (const take of takes) {
    const image = fakeImageFile(takeOf('Ann', take))
    const target = `/api/v1/recognition/faces?subject=${encodeURIComponent(subject)}`
    const { status, body } = await send(client, 'POST', target, image)
    assert.equal(status, 201, JSON.stringify(body))
    faceIds.push(body.image_id)
  }
  return faceIds
}

const rename = (client: GalleryClient, from: string, to: string) =>
  send(client, 'PUT', `${subjectsPath}/${encodeURIComponent(from)}`, { subject: to })

async function subjectOf(client: GalleryClient, externalId: string) {
  const { body } = await client.rest('GET', `/v1/subjects?externalId=${externalId}&include=faces`)
  return body.items[0]
}

test('Renaming a subject to an existing name moves its faces, crops and groups to that subject', async () => {
  await runJson(gallery.dataDir, project, 'set default --store-crops on')
  const before = await enroll(gallery, 'Annie', [0, 1])
  const kept = await enroll(gallery, 'Ann', [2])
  const source = await subjectOf(gallery, 'Annie')
  const target = await subjectOf(gallery, 'Ann')
  const { subjectId } = target
  for (const [id, addGroups] of [
    [source.subjectId, ['day', 'staff']],
    [subjectId, ['night', 'staff']],
  ] as const)
    await gallery.value('svc.updateSubject', { subjectId: id, addGroups })
  const copy = await copyDatabase(gallery.database.store)

  const renamed = await rename(gallery, 'Annie', 'Ann')
  assert.deepEqual([renamed.status, renamed.body], [200, { updated: true }])

  assert.deepEqual((await send(gallery, 'GET', subjectsPath)).body, { subjects: ['Ann'] })
  const merged = await subjectOf(gallery, 'Ann')
  assert.equal(merged.subjectId, subjectId)
  assert.deepEqual(merged.groups, ['day', 'night', 'staff'])
  const faceIds = merged.faces.map(({ faceId }: { faceId: string }) => faceId)
  assert.deepEqual(faceIds.toSorted(), [...before, ...kept].toSorted(), 'faces keep their ids')
  for (const [take, faceId] of [...before, ...kept].entries()) {
    const params = { ...imageParams(takeOf('Ann', take)), groups: ['night'] }
    const found = (await gallery.value('svc.identify', params)).bestMatch
    assert.deepEqual([found.subjectId, found.faceId], [subjectId, faceId])
    assert.ok(found.similarity > 0.95, `the score of all faces: ${found.similarity}`)
  }
  const { body } = await gallery.rest('GET', '/v1/deletions')
  const [record] = body.items
  assert.deepEqual(
    [record.subjectId, record.externalId, record.groups, record.embeddingCount],
    [source.subjectId, 'Annie', ['day', 'staff'], 0],
  )
  assert.ok((await auditLedger(gallery.database.store.db, Date.now())).every(({ ok }) => ok))

  // Every template and crop is encrypted with the key of the remaining subject only.
  const today = await copyDatabase(gallery.database.store)
  assert.equal(today.subjects.length, 1)
  const keys = unwrapAllKeys([today], path.join(gallery.dataDir, 'master.key'))
  for (const face of [...today.templates, ...today.crops]) assert.ok(isReadable(face, keys))
  assert.deepEqual([today.templates.length, today.crops.length], [3, 3])
  const older = [...copy.templates, ...copy.crops].filter(
    (face) => face.subjectId === source.subjectId,
  )
  assert.equal(older.length, 4)
  for (const face of older) assert.ok(!isReadable(face, keys), 'the key of the source is destroyed')
})

test('Deleting the merged subject deletes all its faces', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await enroll(client, 'Annie', [0])
  await enroll(client, 'Ann', [1])
  assert.equal((await rename(client, 'Annie', 'Ann')).status, 200)
  const deleted = await send(client, 'DELETE', '/api/v1/recognition/faces?subject=Ann')
  assert.deepEqual(deleted.body, { deleted: 2 })
  const found = await client.value('svc.identify', imageParams(takeOf('Ann', 0)))
  assert.deepEqual([found.matched, found.gallerySize], [false, 0])
})

test('A merge with more templates or groups than a subject can have is rejected and changes nothing', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await enroll(client, 'Annie', [0, 1])
  await enroll(client, 'Ann', [2])
  const source = await subjectOf(client, 'Annie')
  const target = await subjectOf(client, 'Ann')
  const groups = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  const addGroups = (subjectId: string, names: readonly string[]) =>
    client.value('svc.updateSubject', { subjectId, addGroups: names })
  await addGroups(source.subjectId, groups('a', 11))
  await addGroups(target.subjectId, groups('b', 10))
  const tooManyGroups = await rename(client, 'Annie', 'Ann')
  assert.deepEqual([tooManyGroups.status, tooManyGroups.body.code], [400, 26])
  assert.match(tooManyGroups.body.message, /would have 21 groups; .* at most 20\. Remove groups/u)

  await client.value('svc.updateSubject', { subjectId: source.subjectId, removeGroups: ['a-0'] })
  await enroll(client, 'Ann', [3])
  const tooManyFaces = await rename(client, 'Annie', 'Ann')
  assert.deepEqual([tooManyFaces.status, tooManyFaces.body.code], [400, 26])
  assert.match(tooManyFaces.body.message, /would have 4 templates; the limit is 3\. Delete faces/u)
  assert.equal((await subjectOf(client, 'Annie')).faces.length, 2)
  assert.equal((await subjectOf(client, 'Ann')).groups.length, 10)

  const { image_id: id } = (await send(client, 'GET', '/api/v1/recognition/faces?subject=Annie'))
    .body.faces[0]
  await send(client, 'DELETE', `/api/v1/recognition/faces/${id}`)
  assert.equal((await rename(client, 'Annie', 'Ann')).status, 200, '3 templates and 20 groups')
  assert.equal((await subjectOf(client, 'Ann')).groups.length, 20)
})

test('A subject without faces is merged, and a merge needs the permission to delete a subject', async () => {
  const permissions = ['svc.enroll', 'svc.updateSubject', 'subjects:read']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  await send(client, 'POST', subjectsPath, { subject: 'Annie' })
  await send(client, 'POST', subjectsPath, { subject: 'Ann' })
  const rejected = await rename(client, 'Annie', 'Ann')
  assert.equal(rejected.status, 403)
  assert.match(rejected.body.message, /would be merged.*lacks the permission svc\.deleteSubject/u)
  assert.equal((await rename(client, 'Annie', 'Annie')).status, 200, 'its own name')
  const owner = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await send(owner, 'POST', subjectsPath, { subject: 'Annie' })
  await enroll(owner, 'Ann', [0])
  assert.equal((await rename(owner, 'Ann', 'Annie')).status, 200)
  assert.equal((await subjectOf(owner, 'Annie')).faces.length, 1)
  assert.ok((await auditLedger(gallery.database.store.db, Date.now())).every(({ ok }) => ok))
})

test('A key that may not force faces cannot move those of another person by a merge', async () => {
  const permissions = ['svc.enroll', 'svc.updateSubject', 'svc.deleteSubject', 'subjects:read']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  await enroll(client, 'Ann', [0])
  const target = '/api/v1/recognition/faces?subject=Bob'
  assert.equal((await send(client, 'POST', target, fakeImageFile({ name: 'Bob' }))).status, 201)
  const rejected = await rename(client, 'Bob', 'Ann')
  assert.equal(rejected.status, 403)
  assert.match(rejected.body.message, /are not compared.*lacks the permission faces:force/u)
  assert.equal((await subjectOf(client, 'Ann')).faces.length, 1)
  assert.equal((await subjectOf(client, 'Bob')).faces.length, 1)
})
