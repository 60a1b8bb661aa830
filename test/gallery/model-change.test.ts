import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import type { ProjectSwitches } from '../../src/store/tenancy/switches.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

/** The models of the same gallery before and after a model change. */
const formerModels = { active: 'people@1' }
const changedModels = { active: 'people@2', former: ['people@1'] }
const withoutFormerModels = { active: 'people@2' }

let dataDir: string
let key: string
const enrolledByName = new Map<string, { readonly subjectId: string; readonly faceId: string }>()

before(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-models-'))
  await using gallery = await startGallery({ dataDir, models: formerModels })
  key = gallery.key
  for (const name of ['Ada', 'Ben', 'Cid', 'Dan', 'Eve', 'Fay'])
    enrolledByName.set(
      name,
      await gallery.value('svc.enroll', { ...imageParams(name), externalId: name }),
    )
})
after(() => rm(dataDir, { recursive: true, force: true }))

const restart = (models: typeof changedModels | typeof withoutFormerModels) =>
  startGallery({ dataDir, key, models })

/** Identifies each person and returns the external ids of the best matches. */
async function identifiedNames(client: GalleryClient, ...names: string[]): Promise<unknown[]> {
  const values = await Promise.all(
    names.map((name) => client.value('svc.identify', imageParams(name))),
  )
  return values.map(({ bestMatch }) => bestMatch?.externalId)
}

const lastRequest = ({ vision }: TestGallery) => vision.requests.at(-1)

test('After a model change each face is compared by a model that it has a template of', async () => {
  await using gallery = await restart(changedModels)
  assert.deepEqual(await identifiedNames(gallery, 'Ada', 'Ben', 'Unknown'), [
    'Ada',
    'Ben',
    undefined,
  ])
  assert.deepEqual(lastRequest(gallery)?.previousTemplates, ['people@1'])
  const zed = await gallery.value('svc.enroll', { ...imageParams('Zed'), externalId: 'Zed' })
  assert.deepEqual(await identifiedNames(gallery, 'Ada', 'Zed'), ['Ada', 'Zed'])
  const ada = await gallery.value('svc.identify', imageParams('Ada'), { debug: true })
  assert.equal(ada.notComparable, undefined)
  assert.equal(ada.debug.providers.recognizer, 'people@2')
  assert.equal(ada.debug.providers.formerRecognizer, 'people@1')

  const { body } = await gallery.rest('GET', '/v1/subjects?include=faces')
  const modelOf = (name: string) =>
    body.items.find((item: { externalId: string }) => item.externalId === name).faces[0].modelId
  assert.deepEqual([modelOf('Ada'), modelOf('Zed')], ['people@1', 'people@2'])
  await gallery.value('svc.deleteSubject', { subjectId: zed.subjectId })
})

test('After a model change merged frames are compared by the model of each face', async () => {
  await using gallery = await restart(changedModels)
  const frame = (take: number) =>
    (imageParams({ name: 'Fay', deviation: 0.3, take }) as { images: object[] }).images
  const params = { images: [...frame(1), ...frame(2)], sameSubject: true }
  const { bestMatch, debug } = await gallery.value('svc.identify', params, { debug: true })
  assert.equal(bestMatch.externalId, 'Fay')
  assert.equal(debug.providers.formerRecognizer, 'people@1')
  const verified = await gallery.value('svc.verify', { ...params, externalId: 'Fay' })
  assert.equal(verified.similarity, bestMatch.similarity)
  assert.deepEqual(lastRequest(gallery)?.previousTemplates, ['people@1'])
})

test('A subject with faces of both models is one candidate, with its best similarity', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId, faceId } = enrolledByName.get('Ben') ?? {}
  const params = imageParams({ name: 'Ben', deviation: 1 })
  const added = await gallery.value('svc.enroll', { ...params, subjectId })
  assert.equal(added.embeddingCount, 2)
  const byFormer = await gallery.value('svc.identify', imageParams('Ben'))
  assert.equal(byFormer.faces[0].candidates.length, 1)
  assert.deepEqual([byFormer.bestMatch.faceId, byFormer.bestMatch.similarity], [faceId, 1])
  const byActive = await gallery.value('svc.identify', params)
  assert.deepEqual([byActive.bestMatch.faceId, byActive.bestMatch.similarity], [added.faceId, 1])
  const verified = await gallery.value('svc.verify', { ...params, subjectId })
  assert.deepEqual([verified.faceId, verified.similarity], [added.faceId, 1])
  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [added.faceId] })
})

test('A gallery without templates of former models is not searched with them', async () => {
  await using gallery = await restart(changedModels)
  const project = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await project.value('svc.enroll', { ...imageParams('Ada'), externalId: 'Ada' })
  assert.deepEqual(await identifiedNames(project, 'Ada'), ['Ada'])
  assert.ok(gallery.vision.requests.every((request) => !request.previousTemplates?.length))
})

test('Faces without a template of a loaded model are counted, and rejected if there are no others', async () => {
  await using gallery = await restart(withoutFormerModels)
  const { subjectId } = enrolledByName.get('Ada') ?? {}
  assert.equal(await gallery.code('svc.identify', imageParams('Ada')), 'MODEL_MISMATCH')
  assert.equal(
    await gallery.code('svc.verify', { ...imageParams('Ada'), subjectId }),
    'MODEL_MISMATCH',
  )
  const zed = await gallery.value('svc.enroll', { ...imageParams('Zed'), externalId: 'Zed' })
  const found = await gallery.value('svc.identify', imageParams('Zed'))
  assert.deepEqual([found.bestMatch.externalId, found.notComparable], ['Zed', enrolledByName.size])
  await gallery.value('svc.deleteSubject', { subjectId: zed.subjectId })
})

test('A face is not added without a comparison to a subject whose model is not loaded, unless forced', async () => {
  await using gallery = await restart(withoutFormerModels)
  const { subjectId } = enrolledByName.get('Cid') ?? {}
  for (const name of ['Cid', 'Not Cid']) {
    const params = { ...imageParams(name), subjectId, duplicateCheck: 'off' }
    assert.equal(await gallery.code('svc.enroll', params), 'MODEL_MISMATCH')
    const update = { ...imageParams(name), subjectId }
    assert.equal(await gallery.code('svc.updateSubject', update), 'MODEL_MISMATCH')
  }
  assert.equal((await subjectOf(gallery, subjectId)).embeddingCount, 1, 'no face was added')
  const forced = { ...imageParams('Cid'), subjectId, force: true }
  const { faceId } = await gallery.value('svc.enroll', forced)
  // Now the subject has a face that can be compared.
  const other = { ...imageParams('Not Cid'), subjectId }
  assert.equal(await gallery.code('svc.enroll', other), 'SUBJECT_FACE_MISMATCH')
  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [faceId] })
})

test('Faces with templates of a former model only are used for mismatch and duplicate checks', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId } = enrolledByName.get('Cid') ?? {}
  assert.equal(
    await gallery.code('svc.enroll', { ...imageParams('Not Cid'), subjectId }),
    'SUBJECT_FACE_MISMATCH',
  )
  const duplicate = { ...imageParams('Cid'), duplicateCheck: 'reject' }
  assert.equal(await gallery.code('svc.enroll', duplicate), 'DUPLICATE_SUBJECT')
})

test('Verification uses the former model, and auto-enrolls the face only if that is switched on', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId, faceId } = enrolledByName.get('Dan') ?? {}
  const dan = { ...imageParams({ name: 'Dan', deviation: 0.3 }), subjectId }
  const first = await gallery.value('svc.verify', dan, { debug: true })
  assert.deepEqual([first.matched, first.faceId], [true, faceId])
  assert.equal(first.debug.providers.formerRecognizer, 'people@1')
  assert.equal(first.autoEnrolledFaceId, undefined)
  assert.equal((await subjectOf(gallery, subjectId)).embeddingCount, 1)

  await enableSwitches(gallery, { autoEnroll: true })
  const different = await gallery.value('svc.verify', { ...imageParams('Eve'), subjectId })
  const dissimilar = await gallery.value('svc.verify', {
    ...imageParams({ name: 'Dan', deviation: 2 }),
    subjectId,
    threshold: 0.5,
  })
  assert.ok(dissimilar.matched && dissimilar.similarity < 0.9, `${dissimilar.similarity}`)
  const blurred = await gallery.value('svc.verify', {
    ...imageParams({ name: 'Dan', quality: 39 }),
    subjectId,
  })
  const strict = await gallery.value('svc.verify', { ...dan, threshold: 0.999 })
  for (const value of [different, dissimilar, blurred, strict])
    assert.equal(value.autoEnrolledFaceId, undefined)

  const autoEnrolled = await gallery.value('svc.verify', dan)
  assert.equal(autoEnrolled.faceId, faceId)
  const { embeddingCount, faces } = await subjectOf(gallery, subjectId)
  assert.equal(embeddingCount, 2)
  assert.deepEqual(
    faces.map((face) => [face.faceId, face.modelId]),
    [
      [faceId, 'people@1'],
      [autoEnrolled.autoEnrolledFaceId, 'people@2'],
    ],
  )
  const next = await gallery.value('svc.verify', dan, { debug: true })
  assert.deepEqual(
    [next.faceId, next.autoEnrolledFaceId],
    [autoEnrolled.autoEnrolledFaceId, undefined],
  )
  assert.equal(next.debug.providers.formerRecognizer, undefined)
  assert.deepEqual(await identifiedNames(gallery, 'Dan'), ['Dan'])
  await enableSwitches(gallery, { autoEnroll: false })
})

test('A subject at its template limit is verified, and no face is auto-enrolled', async () => {
  const environment = { SUBJECT_TEMPLATES_MAX: '1' }
  await using gallery = await startGallery({ dataDir, key, models: changedModels, environment })
  await enableSwitches(gallery, { autoEnroll: true })
  const { subjectId } = enrolledByName.get('Eve') ?? {}
  const verified = await gallery.value('svc.verify', { ...imageParams('Eve'), subjectId })
  assert.deepEqual([verified.matched, verified.autoEnrolledFaceId], [true, undefined])
  assert.equal((await subjectOf(gallery, subjectId)).embeddingCount, 1)
  await enableSwitches(gallery, { autoEnroll: false })
})

test('Of concurrent enrollments of one face, one succeeds and the others are duplicates', async () => {
  await using gallery = await startGallery({ onAnalyze: () => sleep(20) })
  for (let round = 0; round < 5; round++) {
    const takes = Array.from({ length: 4 }, (_, take) => ({
      ...imageParams({ name: `Person ${round}`, deviation: 0.2, take }),
      duplicateCheck: 'reject',
    }))
    const responses = await Promise.all(takes.map((take) => gallery.call('svc.enroll', take)))
    const codes = responses.map(({ body }) => body.errors[0]?.code ?? 'OK')
    assert.equal(codes.filter((code) => code === 'OK').length, 1)
    assert.equal(codes.filter((code) => code === 'DUPLICATE_SUBJECT').length, 3)
  }
})

type SubjectFaces = {
  readonly embeddingCount: number
  readonly faces: readonly { readonly faceId: string; readonly modelId: string }[]
}

async function subjectOf(client: GalleryClient, subjectId = ''): Promise<SubjectFaces> {
  const { body } = await client.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  return body
}

async function enableSwitches(
  { database }: TestGallery,
  switches: Partial<ProjectSwitches>,
): Promise<void> {
  const { db } = database.store
  const rows = await db.selectFrom('projects').select('projectId').execute()
  for (const { projectId } of rows) await updateProject(db, projectId, { switches })
}
