import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { keyCommands, project } from '../../../src/cli/tenancy/commands.ts'
import { renamedSubjectsMax } from '../../../src/gallery/rename-group.ts'
import { sql } from '../../../src/store/database.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { copyDatabase, isReadable, unwrapAllKeys } from '../../support/gallery/database-copy.ts'
import { fillSubjects } from '../../support/gallery/fill-subjects.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { SUBJECT_TEMPLATES_MAX: '3' } })
})
after(() => gallery[Symbol.asyncDispose]())

const takeOf = (name: string, take: number) => imageParams({ name, deviation: 0.3, take })

/** Enrolls pictures of people as one subject; the first one creates it. @returns the ids of its faces. */
async function enroll(pictures: readonly (readonly [string, number])[], fields: object = {}) {
  const faceIds: string[] = []
  let subjectId: string | undefined
  for (const [name, take] of pictures) {
    const target = subjectId === undefined ? fields : { subjectId, force: true }
    const params = { ...takeOf(name, take), ...target, duplicateCheck: 'off' }
    const value = await gallery.value('svc.enroll', params)
    subjectId = value.subjectId
    faceIds.push(value.faceId)
  }
  return { subjectId, faceIds }
}

const bestMatch = async (name: string, take: number, fields: object = {}) =>
  (await gallery.value('svc.identify', { ...takeOf(name, take), ...fields })).bestMatch

const update = (params: object) => gallery.value('svc.updateSubject', params)

async function refusal(params: object) {
  const { body } = await gallery.call('svc.updateSubject', params)
  assert.equal(body.ok, false, JSON.stringify(body))
  return body.errors[0]
}

test('A moved face is found as its new subject, and its data is encrypted for that subject only', async () => {
  await runJson(gallery.dataDir, project, 'set default --store-crops on')
  const wrong = await enroll(
    [
      ['Ann', 0],
      ['Ann', 1],
      ['Ben', 1],
    ] as const,
    { groups: ['staff'] },
  )
  const right = await enroll([['Ben', 0]] as const, { groups: ['guests'] })
  const [, , faceId] = wrong.faceIds
  const before = await bestMatch('Ben', 1)
  assert.deepEqual([before.subjectId, before.faceId], [right.subjectId, right.faceIds[0]])
  const verify = (name: string, take: number, subjectId: string | undefined) =>
    gallery.value('svc.verify', { ...takeOf(name, take), subjectId })
  assert.equal((await verify('Ben', 1, wrong.subjectId)).faceId, faceId)
  const ann = (await bestMatch('Ann', 0)).similarity
  const older = (await copyDatabase(gallery.database.store)).templates.filter(
    (template) => template.faceId === faceId,
  )

  const request = { subjectId: right.subjectId, addFaceIds: [faceId?.toUpperCase()] }
  const value = await update(request)
  assert.deepEqual([value.subjectId, value.embeddingCount], [right.subjectId, 2])
  const found = await bestMatch('Ben', 1, { groups: ['guests'] })
  assert.deepEqual([found.subjectId, found.faceId], [right.subjectId, faceId])
  assert.ok(found.similarity > before.similarity, 'the subject now has two faces of the person')
  assert.equal(await bestMatch('Ben', 1, { groups: ['staff'] }), null)
  for (const [take, ownId] of wrong.faceIds.slice(0, 2).entries()) {
    const own = await bestMatch('Ann', take)
    assert.deepEqual([own.subjectId, own.faceId], [wrong.subjectId, ownId])
    assert.ok(own.similarity > ann, 'the subject has no face of another person any more')
  }
  assert.equal((await verify('Ben', 1, wrong.subjectId)).matched, false)
  assert.equal(
    (await update(request)).updatedAtUtc,
    value.updatedAtUtc,
    'a repetition changes nothing',
  )

  assert.equal((await runJson(gallery.dataDir, keyCommands, 'rotate-master')).renewed, 1)
  const today = await copyDatabase(gallery.database.store)
  const keys = unwrapAllKeys([today], path.join(gallery.dataDir, 'master.key'))
  for (const face of [...today.templates, ...today.crops]) assert.ok(isReadable(face, keys))
  assert.deepEqual([today.templates.length, today.crops.length], [4, 4])
  assert.equal(older.length, 1)
  for (const face of older) assert.ok(!isReadable(face, keys), 'the former ciphertext')
  await gallery.value('svc.deleteSubject', { subjectId: wrong.subjectId })
  assert.equal((await bestMatch('Ben', 1)).subjectId, right.subjectId)
  await gallery.value('svc.deleteSubject', { subjectId: right.subjectId })
  assert.equal(await bestMatch('Ben', 1), null)
})

test('Only faces that resemble the subject move, unless forced; a subject keeps a face and its limit', async () => {
  const cora = await enroll([
    ['Cora', 0],
    ['Cora', 1],
    ['Cora', 2],
  ] as const)
  const dora = await enroll([
    ['Dora', 0],
    ['Cora', 3],
  ] as const)
  const [corasFace] = cora.faceIds
  const toDora = { subjectId: dora.subjectId, addFaceIds: [corasFace] }
  const onlyDora = await enroll([['Dora', 4]] as const)
  const different = await refusal({ subjectId: onlyDora.subjectId, addFaceIds: [corasFace] })
  assert.deepEqual(
    [different.code, different.path, different.subjectId],
    ['SUBJECT_FACE_MISMATCH', 'params.addFaceIds', onlyDora.subjectId],
  )
  const addAll = { subjectId: dora.subjectId, addFaceIds: cora.faceIds, force: true }
  assert.match((await refusal(addAll)).message, /last face of a subject cannot be moved/u)
  const two = { ...addAll, addFaceIds: cora.faceIds.slice(1) }
  const tooMany = await refusal(two)
  assert.equal(tooMany.code, 'TEMPLATE_LIMIT_REACHED')
  assert.match(tooMany.message, /would have 4 templates; the limit is 3/u)
  const both = await refusal({ ...toDora, removeFaceIds: [corasFace] })
  assert.match(both.message, /^params\.removeFaceIds: must not contain/u)
  const unknown = await refusal({ ...toDora, addFaceIds: [randomUUID()], force: true })
  assert.match(unknown.message, /not a face of the gallery/u)
  const foreign = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const theirs = await foreign.value('svc.enroll', takeOf('Cora', 5))
  const ofOthers = await refusal({ ...toDora, addFaceIds: [theirs.faceId], force: true })
  assert.match(ofOthers.message, /not a face of the gallery/u)
  assert.equal((await bestMatch('Cora', 0)).subjectId, cora.subjectId, 'nothing changed')

  assert.equal((await update({ ...toDora, force: true })).embeddingCount, 3)
  const verified = await gallery.value('svc.verify', {
    ...takeOf('Cora', 0),
    subjectId: dora.subjectId,
  })
  assert.equal(verified.faceId, corasFace)
})

test('A renamed group keeps its subjects, for the search too; an existing name is refused', async () => {
  const gus = await enroll([['Gus', 0]] as const, { groups: ['door'] })
  await enroll([['Hal', 0]] as const, { groups: ['office', 'door'] })
  const rename = (name: string, newName: unknown) =>
    gallery.rest('POST', `/v1/groups/${name}/rename`, { name: newName })
  assert.deepEqual(await bestMatch('Gus', 0, { groups: ['door'] }).then((one) => one.groups), [
    'door',
  ])
  const renamed = await rename('door', 'entrance')
  assert.deepEqual([renamed.status, renamed.body], [200, { name: 'entrance', subjectCount: 2 }])
  const found = await bestMatch('Gus', 0, { groups: ['entrance'] })
  assert.deepEqual([found.subjectId, found.groups], [gus.subjectId, ['entrance']])
  const { body } = await gallery.call('svc.identify', { ...takeOf('Gus', 0), groups: ['door'] })
  assert.equal(body.errors[0].code, 'GROUP_NOT_FOUND')
  assert.equal((await rename('door', 'gate')).status, 404)
  const inUse = await rename('entrance', 'office')
  assert.equal(inUse.status, 400)
  assert.match(inUse.body.detail, /the group office exists/u)
  assert.equal((await rename('entrance', 'no spaces')).status, 400)
  const same = await rename('entrance', 'entrance')
  assert.deepEqual([same.status, same.body.subjectCount], [200, 2])
})

test('A group with more subjects than one transaction changes quickly is not renamed', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId: galleryId } = client.project
  // And the one that the function creates first.
  await fillSubjects(gallery, client.project, renamedSubjectsMax)
  const name = sql.lit('large').as('name')
  await gallery.database.store.write(({ build, run }) => {
    const all = build.selectFrom('subjects').where('galleryId', '=', galleryId)
    const members = all.select(['galleryId', name, 'subjectId'])
    const groups = build.insertInto('subjectGroups').columns(['galleryId', 'name', 'subjectId'])
    return run(groups.expression(members))
  })
  const rename = () => client.rest('POST', '/v1/groups/large/rename', { name: 'renamed' })
  const refused = await rename()
  const limit = `the group has ${renamedSubjectsMax + 1} subjects; at most ${renamedSubjectsMax}`
  assert.deepEqual([refused.status, refused.body.detail.startsWith(limit)], [400, true])
  const removed = { externalId: 'badge-7', removeGroups: ['large'] }
  await client.value('svc.updateSubject', removed)
  const { status, body } = await rename()
  assert.deepEqual([status, body], [200, { name: 'renamed', subjectCount: renamedSubjectsMax }])
})

test('Ids in upper case are the same ids in the rules of an update', async () => {
  await using gallery = await startGallery()
  const image = imageParams('Ann')
  const { subjectId, faceId } = await gallery.value('svc.enroll', image)
  const removeFaceIds = [faceId.toUpperCase()]
  const renewed = await gallery.value('svc.updateSubject', { ...image, subjectId, removeFaceIds })
  assert.notEqual(renewed.faceId, faceId)
  assert.equal((await gallery.value('svc.identify', image)).bestMatch.faceId, renewed.faceId)
  const other = await gallery.value('svc.enroll', imageParams('Bea'))
  const lists = { addFaceIds: [other.faceId], removeFaceIds: [other.faceId.toUpperCase()] }
  const { body } = await gallery.call('svc.updateSubject', { subjectId, ...lists })
  assert.match(body.errors[0].message, /removeFaceIds: must not contain .*, which addFaceIds/u)
})
