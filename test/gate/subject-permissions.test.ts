import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createKey } from '../../src/store/tenancy/keys.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

const dayMs = 86_400_000

/** Returns the client of a key of the same project with these permissions only. */
async function clientWith(
  gallery: TestGallery,
  permissions: readonly string[],
): Promise<GalleryClient> {
  const { db } = gallery.database.store
  const { projectId } = await db
    .selectFrom('projects')
    .select('projectId')
    .executeTakeFirstOrThrow()
  const newKey = { projectId, name: permissions.join(' '), permissions, expiresAtUtc: null }
  return gallery.withKey((await createKey(db, newKey, new Date())).key)
}

/** A subject of the gallery with values in all fields that a call can change. */
async function enrollAnn(gallery: TestGallery, expiresAtUtc?: string) {
  const fields = { displayName: 'Ann', groups: ['staff'], attributes: { door: 1 } }
  const params = { ...imageParams('ann'), externalId: 'a-1', ...fields, expiresAtUtc }
  const { subjectId } = await gallery.value('svc.enroll', params)
  return { subjectId, fields }
}

const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString()

test('A key that only enrolls adds faces to an existing subject, and changes none of its fields', async () => {
  await using gallery = await startGallery()
  const expiresAtUtc = inDays(30)
  const { subjectId, fields } = await enrollAnn(gallery, expiresAtUtc)
  const before = await gallery.rest('GET', `/v1/subjects/${subjectId}`)
  const client = await clientWith(gallery, ['svc.enroll'])
  const target = { ...imageParams({ name: 'ann', deviation: 0.5 }), externalId: 'a-1' }
  const changes: Readonly<Record<string, object>> = {
    displayName: { displayName: 'Eve' },
    groups: { groups: ['staff', 'owners'] },
    attributes: { attributes: { door: 2 } },
    'a later expiry': { expiresAtUtc: inDays(60) },
    'a nearer expiry': { expiresAtUtc: inDays(1) },
  }
  for (const [name, change] of Object.entries(changes)) {
    const { body } = await client.call('svc.enroll', { ...target, ...change })
    assert.equal(body.errors[0]?.code, 'FORBIDDEN', name)
    assert.match(body.errors[0].message, /svc\.updateSubject/u, name)
  }
  const after = await gallery.rest('GET', `/v1/subjects/${subjectId}`)
  assert.deepEqual(after.body, before.body)

  // The same values change nothing; absent fields stay.
  const repeated = await client.value('svc.enroll', { ...target, ...fields, expiresAtUtc })
  assert.equal(repeated.subjectId, subjectId)
  assert.equal(repeated.embeddingCount, 2)
  // A new subject belongs to the call.
  const created = { ...imageParams('bob'), externalId: 'b-1', ...fields, expiresAtUtc: inDays(1) }
  assert.equal((await client.value('svc.enroll', created)).created, true)
})

test('An expiry is brought forward only with the permission to delete subjects', async () => {
  await using gallery = await startGallery()
  const expiresAtUtc = inDays(30)
  const { subjectId } = await enrollAnn(gallery, expiresAtUtc)
  const { subjectId: unlimited } = await gallery.value('svc.enroll', imageParams('bob'))
  const updater = await clientWith(gallery, ['svc.enroll', 'svc.updateSubject'])
  const nearer = inDays(1)
  for (const [action, id, image] of [
    ['svc.enroll', subjectId, imageParams('ann')],
    ['svc.updateSubject', subjectId, {}],
    ['svc.enroll', unlimited, imageParams('bob')],
    ['svc.updateSubject', unlimited, {}],
  ] as const) {
    const { body } = await updater.call(action, { ...image, subjectId: id, expiresAtUtc: nearer })
    assert.equal(body.errors[0]?.code, 'FORBIDDEN', action)
    assert.match(body.errors[0].message, /svc\.deleteSubject/u)
    assert.equal(body.errors[0].path, 'params.expiresAtUtc')
  }
  const later = inDays(40)
  const update = { subjectId, expiresAtUtc: later }
  assert.equal((await updater.value('svc.updateSubject', update)).expiresAtUtc, later)
  assert.equal(
    (await updater.value('svc.updateSubject', { subjectId, expiresAtUtc: null })).expiresAtUtc,
    null,
  )
  const deleter = await clientWith(gallery, ['svc.updateSubject', 'svc.deleteSubject'])
  const ended = await deleter.value('svc.updateSubject', { subjectId, expiresAtUtc: nearer })
  assert.equal(ended.expiresAtUtc, nearer)
})

test('A face that does not resemble the subject is added only with the permission faces:force', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await enrollAnn(gallery)
  const permissions = ['svc.enroll', 'svc.updateSubject', 'svc.deleteSubject']
  const client = await clientWith(gallery, permissions)
  const forced = { ...imageParams('eve'), subjectId, force: true }
  const analyzed = gallery.vision.requests.length
  for (const action of ['svc.enroll', 'svc.updateSubject']) {
    const { body } = await client.call(action, forced)
    assert.equal(body.errors[0]?.code, 'FORBIDDEN', action)
    assert.match(body.errors[0].message, /faces:force/u)
    assert.equal(body.errors[0].path, 'params.force')
  }
  assert.equal(gallery.vision.requests.length, analyzed, 'a refused call analyzes no image')
  const forcing = await clientWith(gallery, [...permissions, 'faces:force'])
  assert.equal((await forcing.value('svc.enroll', forced)).embeddingCount, 2)
})

test('A refusal is neither billed nor stored: with the permission, the same request runs', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await enrollAnn(gallery)
  const client = await clientWith(gallery, ['svc.enroll'])
  const { db } = gallery.database.store
  const balance = async () =>
    await db.selectFrom('ledgers').select(['ledger', 'balanceMicros', 'reservedMicros']).execute()
  const before = await balance()
  const params = { ...imageParams('ann'), subjectId, displayName: 'Eve' }
  const options = { requestId: randomUUID() }
  const refused = await client.call('svc.enroll', params, options)
  assert.equal(refused.body.errors[0]?.code, 'FORBIDDEN')
  assert.deepEqual(await balance(), before)
  await db
    .updateTable('keys')
    .set({ permissions: '["svc.enroll","svc.updateSubject"]' })
    .where('name', '=', 'svc.enroll')
    .execute()
  const { body } = await client.call('svc.enroll', params, options)
  assert.deepEqual(body.errors, [])
})

test('A key without the permission of a call receives no stored response of it', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await enrollAnn(gallery)
  const permissions = ['svc.enroll', 'svc.updateSubject']
  const client = await clientWith(gallery, permissions)
  const forcing = await clientWith(gallery, [...permissions, 'faces:force'])
  const forced = { ...imageParams('eve'), subjectId, force: true }
  const options = { requestId: randomUUID() }
  assert.equal((await forcing.call('svc.enroll', forced, options)).body.ok, true)
  const refused = await client.call('svc.enroll', forced, options)
  assert.deepEqual([refused.body.errors[0]?.code, refused.body.data], ['FORBIDDEN', null])
  const replay = await forcing.call('svc.enroll', forced, options)
  assert.deepEqual(replay.body.meta, { idempotencyReplay: true })
})

test('Without a picture of the person, a key that only enrolls cannot guess the fields of a subject', async () => {
  await using gallery = await startGallery()
  const { subjectId, fields } = await enrollAnn(gallery)
  const client = await clientWith(gallery, ['svc.enroll'])
  const code = async (guess: object) =>
    client.code('svc.enroll', { ...imageParams('Zoe'), subjectId, ...guess })
  for (const [name, value] of Object.entries(fields)) {
    const [right, wrong] = [
      { [name]: value },
      { [name]: name === 'groups' ? ['other'] : name === 'attributes' ? { door: 9 } : 'Other' },
    ]
    assert.deepEqual(
      [await code(right), await code(wrong)],
      ['SUBJECT_FACE_MISMATCH', 'SUBJECT_FACE_MISMATCH'],
      name,
    )
  }
})

test('A permission that is removed while the body arrives does not apply', async () => {
  let beforeAdmission: () => Promise<unknown> = async () => undefined
  await using gallery = await startGallery({
    beforeStep: async (step) => void (step === 'admit' && (await beforeAdmission())),
  })
  const { subjectId } = await enrollAnn(gallery)
  const client = await clientWith(gallery, ['svc.updateSubject', 'svc.deleteSubject'])
  const { db } = gallery.database.store
  beforeAdmission = () =>
    db
      .updateTable('keys')
      .set({ permissions: '["svc.updateSubject"]' })
      .where('name', '=', 'svc.updateSubject svc.deleteSubject')
      .execute()
  const update = { subjectId, expiresAtUtc: inDays(1) }
  assert.equal(await client.code('svc.updateSubject', update), 'FORBIDDEN')
})

test('Faces are removed and moved only with the permission to delete subjects', async () => {
  await using gallery = await startGallery()
  const { subjectId } = await enrollAnn(gallery)
  const { faceId } = await gallery.value('svc.enroll', {
    ...imageParams({ name: 'ann', deviation: 0.5 }),
    subjectId,
  })
  const other = await gallery.value('svc.enroll', imageParams({ name: 'ann', deviation: 0.4 }))
  const updater = await clientWith(gallery, ['svc.enroll', 'svc.updateSubject', 'faces:force'])
  const before = await gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  for (const [params, field] of [
    [{ subjectId, removeFaceIds: [faceId] }, 'removeFaceIds'],
    [{ subjectId: other.subjectId, addFaceIds: [faceId] }, 'addFaceIds'],
  ] as const) {
    const { body } = await updater.call('svc.updateSubject', params)
    assert.equal(body.errors[0]?.code, 'FORBIDDEN', field)
    assert.match(body.errors[0].message, new RegExp(`params\\.${field}.*svc\\.deleteSubject`, 'u'))
    const validated = await updater.call('svc.updateSubject', params, { validateOnly: true })
    assert.equal(validated.body.errors[0]?.code, 'FORBIDDEN', field)
  }
  // Empty lists take nothing away.
  const empty = { subjectId, removeFaceIds: [], addFaceIds: [] }
  assert.equal((await updater.value('svc.updateSubject', empty)).embeddingCount, 2)
  const after = await gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  assert.deepEqual(after.body, before.body)
  const remover = await clientWith(gallery, ['svc.updateSubject', 'svc.deleteSubject'])
  const moved = { subjectId: other.subjectId, addFaceIds: [faceId] }
  assert.equal((await remover.value('svc.updateSubject', moved)).embeddingCount, 2)
  const removed = { subjectId: other.subjectId, removeFaceIds: [faceId] }
  assert.equal((await remover.value('svc.updateSubject', removed)).embeddingCount, 1)
})
