import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { findCalls } from '../support/find-calls.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

const enroll = (name: string, more: object = {}) =>
  gallery.value('svc.enroll', { ...imageParams(name), ...more })

test('An enrolled subject can be identified, verified, updated and deleted', async () => {
  const enrolled = await enroll('Ada', {
    externalId: 'ada',
    displayName: 'Ada L.',
    groups: ['staff'],
  })
  assert.equal(enrolled.created, true)
  assert.equal(enrolled.embeddingCount, 1)
  assert.deepEqual(enrolled.groups, ['staff'])
  const { subjectId } = enrolled

  const found = await gallery.value('svc.identify', imageParams({ name: 'Ada', deviation: 0.5 }))
  assert.equal(found.matched, true)
  assert.equal(found.bestMatch.subjectId, subjectId)
  assert.equal(found.bestMatch.displayName, 'Ada L.')
  assert.equal(found.bestMatch.faceId, enrolled.faceId)
  assert.equal(found.thresholdSource, 'auto')
  assert.equal(found.gallerySize, 1)

  const verified = await gallery.value('svc.verify', { ...imageParams('Ada'), externalId: 'ada' })
  const { mode, matched, similarity } = verified
  assert.deepEqual([mode, matched, similarity], ['imageToSubject', true, 1])
  assert.equal(verified.faceId, enrolled.faceId)

  const updated = await gallery.value('svc.updateSubject', {
    subjectId,
    displayName: null,
    attributes: { level: 3 },
    addGroups: ['night'],
    removeGroups: ['staff'],
  })
  assert.deepEqual(updated.groups, ['night'])
  assert.deepEqual(updated.attributes, { level: 3 })
  assert.equal(updated.displayName, null)

  const record = await gallery.value('svc.deleteSubject', { subjectId })
  assert.deepEqual(Object.keys(record).sort(), [
    'deletedAtUtc',
    'deletionId',
    'embeddingCount',
    'externalId',
    'groups',
    'subjectId',
    'tenantId',
  ])
  assert.equal(record.externalId, 'ada')
  assert.deepEqual(record.groups, ['night'])
  assert.equal(await gallery.code('svc.deleteSubject', { subjectId }), 'SUBJECT_NOT_FOUND')
  const after = await gallery.value('svc.identify', imageParams('Ada'))
  assert.deepEqual([after.matched, after.bestMatch, after.faces[0].candidates], [false, null, []])
})

test('A project can set the threshold of its searches, and a request can override it', async () => {
  const strict = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await strict.value('svc.enroll', { ...imageParams('Eve'), externalId: 'eve' })
  const { db } = gallery.database.store
  await updateProject(db, strict.project.projectId, { identifyThreshold: 0.97 })
  const probe = imageParams('Eve')
  const byProject = await strict.value('svc.identify', probe)
  assert.deepEqual([byProject.threshold, byProject.thresholdSource], [0.97, 'project'])
  const byRequest = await strict.value('svc.identify', { ...probe, threshold: 0.9 })
  assert.deepEqual([byRequest.threshold, byRequest.thresholdSource], [0.9, 'request'])
  await updateProject(db, strict.project.projectId, { identifyThreshold: null })
  assert.equal((await strict.value('svc.identify', probe)).thresholdSource, 'auto')
})

test('A face of the subject is added; a face of another person is added only with force', async () => {
  const { subjectId } = await enroll('Bob', { externalId: 'bob' })
  const more = await gallery.value('svc.enroll', {
    ...imageParams({ name: 'Bob', deviation: 1 }),
    externalId: 'bob',
  })
  assert.deepEqual([more.subjectId, more.created, more.embeddingCount], [subjectId, false, 2])
  const other = { ...imageParams('Not Bob'), subjectId }
  assert.equal(await gallery.code('svc.enroll', other), 'SUBJECT_FACE_MISMATCH')
  const forced = await gallery.value('svc.enroll', { ...other, force: true })
  assert.equal(forced.embeddingCount, 3)
})

test('An existing externalId is rejected on request, that of another subject always', async () => {
  const { subjectId } = await enroll('Cleo', { externalId: 'cleo' })
  const again = { ...imageParams('Cleo'), externalId: 'cleo', onExisting: 'reject' }
  assert.equal(await gallery.code('svc.enroll', again), 'EXTERNAL_ID_CONFLICT')
  await enroll('Dora', { externalId: 'dora' })
  const taken = { subjectId, externalId: 'dora' }
  assert.equal(await gallery.code('svc.updateSubject', taken), 'EXTERNAL_ID_CONFLICT')
  assert.equal(
    await gallery.code('svc.enroll', { ...imageParams('Cleo'), ...taken }),
    'EXTERNAL_ID_CONFLICT',
  )
})

test('A face that is enrolled as another subject is reported or rejected', async () => {
  const { subjectId } = await enroll('Eve', { externalId: 'eve' })
  const params = imageParams({ name: 'Eve', deviation: 0.3 })
  assert.equal(
    await gallery.code('svc.enroll', { ...params, duplicateCheck: 'reject' }),
    'DUPLICATE_SUBJECT',
  )
  const reported = await gallery.value('svc.enroll', params)
  assert.equal(reported.duplicates[0].subjectId, subjectId)
  assert.equal(reported.duplicates[0].externalId, 'eve')
  const unchecked = await gallery.value('svc.enroll', { ...params, duplicateCheck: 'off' })
  assert.deepEqual(unchecked.duplicates, [])
})

test('Enrollment rejects images with no face, several faces, a small face or low quality', async () => {
  assert.equal(await gallery.code('svc.enroll', imageParams()), 'NO_FACE_FOUND')
  assert.equal(await gallery.code('svc.enroll', imageParams('Two', 'People')), 'MULTIPLE_FACES')
  assert.equal(
    await gallery.code('svc.enroll', imageParams({ name: 'S', side: 20 })),
    'FACE_TOO_SMALL',
  )
  const { body } = await gallery.call(
    'svc.enroll',
    imageParams({ name: 'Q', quality: 20, side: 60 }),
  )
  assert.equal(body.errors[0].code, 'LOW_QUALITY')
  assert.match(body.errors[0].message, /FACE_TOO_SMALL/u)
})

test('A subject can have at most twenty templates', async () => {
  const { subjectId } = await enroll('Fay')
  for (let take = 1; take < 20; take++)
    await gallery.value('svc.enroll', {
      ...imageParams({ name: 'Fay', deviation: 0.5, take }),
      subjectId,
    })
  const last = { ...imageParams({ name: 'Fay', deviation: 0.5, take: 20 }), subjectId }
  assert.equal(await gallery.code('svc.enroll', last), 'TEMPLATE_LIMIT_REACHED')
  const { body } = await gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  const faceIds = body.faces.map(({ faceId }: { faceId: string }) => faceId)
  const remove = (removeFaceIds: string[]) => ({ subjectId, removeFaceIds })
  assert.equal(await gallery.code('svc.updateSubject', remove(faceIds)), 'INVALID_REQUEST')
  assert.equal(await gallery.code('svc.updateSubject', remove([randomUUID()])), 'INVALID_REQUEST')
  const left = await gallery.value('svc.updateSubject', remove(faceIds.slice(1)))
  assert.equal(left.embeddingCount, 1)
})

test('Identify returns several faces, each subject once, and only members of the requested groups', async () => {
  const { subjectId } = await enroll('Gil', { groups: ['red'] })
  await gallery.value('svc.enroll', { ...imageParams({ name: 'Gil', deviation: 1 }), subjectId })
  await enroll('Hal', { groups: ['blue'] })
  const both = imageParams({ name: 'Gil', side: 300 }, 'Hal', 'Unknown')
  const found = await gallery.value('svc.identify', { ...both, maxFaces: 3 })
  assert.deepEqual(
    found.faces.map((face: { candidates: unknown[] }) => face.candidates.length),
    [1, 1, 0],
  )
  const red = await gallery.value('svc.identify', { ...both, maxFaces: 3, groups: ['red'] })
  assert.deepEqual(
    red.faces.map((face: { matched: boolean }) => face.matched),
    [true, false, false],
  )
  await gallery.value('svc.updateSubject', { subjectId, removeGroups: ['red'] })
  const inEmptyGroup = { ...both, groups: ['red'] }
  assert.equal(await gallery.code('svc.identify', inEmptyGroup), 'GROUP_NOT_FOUND')
})

test('Candidates below the threshold are returned for debugging only, and templates never', async () => {
  await enroll('Ida')
  const params = { ...imageParams({ name: 'Ida', deviation: 3 }), threshold: 0.99 }
  const { body } = await gallery.call('svc.identify', params)
  assert.ok(!JSON.stringify(body).includes('subjectId'))
  const debugged = await gallery.value('svc.identify', params, { debug: true })
  assert.deepEqual(debugged.faces[0].candidates, [])
  const { candidatesBelowThreshold } = debugged.debug
  assert.ok(candidatesBelowThreshold.length > 0 && candidatesBelowThreshold.length <= 5)
  assert.deepEqual(longestNumberList(debugged), 0)
})

test('A batch succeeds if one image does, and only successful images are charged', async () => {
  await enroll('Jon')
  const imagesOf = (...params: object[]) =>
    params.flatMap((item) => (item as { images: object[] }).images)
  const mixed = { images: imagesOf(imageParams('Jon'), imageParams(), imageParams('Jon')) }
  const { body } = await gallery.call('svc.identify', mixed)
  assert.deepEqual(
    body.data.results.map((result: { ok: boolean }) => result.ok),
    [true, false, true],
  )
  assert.equal(body.data.results[1].value.error.code, 'NO_FACE_FOUND')
  const [row] = await findCalls(gallery.database.store.db, { action: 'svc.identify', limit: 1 })
  assert.deepEqual([row?.requestId, row?.costMicros], [body.requestId, 4000n])
  const failed = await gallery.call('svc.identify', {
    images: imagesOf(imageParams(), imageParams()),
  })
  assert.equal(failed.body.ok, false)
  assert.equal(failed.body.errors.length, 2)
})

test('Verify infers its mode and rejects invalid combinations', async () => {
  const { subjectId } = await enroll('Kim', { externalId: 'kim' })
  const twoImages = {
    images: [imageParams('Kim'), imageParams('Lee')].flatMap(
      (params) => (params as { images: object[] }).images,
    ),
  }
  const different = await gallery.value('svc.verify', twoImages)
  assert.deepEqual(
    [different.mode, different.matched, different.matchLevel],
    ['imageToImage', false, 'none'],
  )
  for (const invalid of [
    imageParams('Kim'),
    { ...twoImages, subjectId },
    { ...twoImages, mode: 'imageToSubject' },
    { ...imageParams('Kim'), subjectId, mode: 'imageToImage' },
    { images: [] },
  ])
    assert.equal(await gallery.code('svc.verify', invalid), 'INVALID_REQUEST')
  for (const externalId of ['kim', 'another']) {
    const { body } = await gallery.call('svc.verify', {
      ...imageParams('Kim'),
      subjectId,
      externalId,
    })
    const { code, path } = body.errors[0]
    assert.deepEqual([code, path], ['INVALID_REQUEST', 'params.externalId'])
  }
})

test('Twenty concurrent enrollments of one externalId create one subject', async () => {
  const takes = Array.from({ length: 20 }, (_, take) => ({ name: 'Mia', deviation: 0.3, take }))
  const values = await Promise.all(
    takes.map((take) => gallery.value('svc.enroll', { ...imageParams(take), externalId: 'mia' })),
  )
  assert.equal(new Set(values.map(({ subjectId }) => subjectId)).size, 1)
  assert.equal(values.filter(({ created }) => created).length, 1)
})

/** Returns the length of the longest list of numbers in a value. */
function longestNumberList(value: unknown): number {
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Math.max(0, ...Object.values(value).map(longestNumberList))
}

test('With debug, every action that analyzes images returns its models and timings', async () => {
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Deb'))
  const calls: readonly (readonly [action: string, params: object])[] = [
    ['svc.enroll', { ...imageParams('Deb'), subjectId }],
    ['svc.updateSubject', { ...imageParams('Deb'), subjectId }],
    ['svc.verify', { ...imageParams('Deb'), subjectId }],
    ['svc.identify', imageParams('Deb')],
    ['svc.detect', imageParams('Deb')],
    ['svc.liveness', imageParams('Deb')],
    ['svc.analyze', imageParams('Deb')],
    ['svc.attributes', { ...imageParams('Deb'), include: ['eyesOpen'] }],
  ]
  for (const [action, params] of calls) {
    const value = await gallery.value(action, params, { debug: true })
    const { providers, timingsMs } = value.debug
    assert.ok(providers.detector && timingsMs.detect >= 0, action)
    assert.equal(longestNumberList(value), 0, action)
    assert.ok(!('debug' in (await gallery.value(action, params))), action)
  }
})
