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

/** A gallery of one model, and later the same with another one beside it. */
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

const restart = (models: typeof changedModels | typeof withoutFormerModels, key_ = key) =>
  startGallery({ dataDir, key: key_, models })

/** Asks by each picture of the batch who is in it. */
async function identifiedNames(client: GalleryClient, ...names: string[]): Promise<unknown[]> {
  const seen = await Promise.all(
    names.map((name) => client.value('svc.identify', imageParams(name))),
  )
  return seen.map(({ bestMatch }) => bestMatch?.externalId)
}

const lastRequest = ({ vision: eyes }: TestGallery) => eyes.requests.at(-1)

test('after a change of the model nobody is lost: each is compared by the model that knows them', async () => {
  await using gallery = await restart(changedModels)
  assert.deepEqual(await identifiedNames(gallery, 'Ada', 'Ben', 'Nobody'), [
    'Ada',
    'Ben',
    undefined,
  ])
  assert.deepEqual(lastRequest(gallery)?.previousTemplates, ['people@1'])
  const zed = await gallery.value('svc.enroll', { ...imageParams('Zed'), externalId: 'Zed' })
  assert.deepEqual(await identifiedNames(gallery, 'Ada', 'Zed'), ['Ada', 'Zed'])
  const one = await gallery.value('svc.identify', imageParams('Ada'), { debug: true })
  assert.equal(one.notComparable, undefined)
  assert.equal(one.debug.providers.recognizer, 'people@2')
  assert.equal(one.debug.providers.formerRecognizer, 'people@1')

  const { body } = await gallery.rest('GET', '/v1/subjects?include=faces')
  const modelOf = (name: string) =>
    body.items.find((item: { externalId: string }) => item.externalId === name).faces[0].modelId
  assert.deepEqual([modelOf('Ada'), modelOf('Zed')], ['people@1', 'people@2'])
  await gallery.value('svc.deleteSubject', { subjectId: zed.subjectId })
})

test('a subject with faces of both models is one candidate, by its best likeness', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId, faceId } = enrolledByName.get('Ben') ?? {}
  const more = imageParams({ name: 'Ben', deviation: 1 })
  const added = await gallery.value('svc.enroll', { ...more, subjectId })
  assert.equal(added.embeddingCount, 2)
  const seen = await gallery.value('svc.identify', imageParams('Ben'))
  assert.equal(seen.faces[0].candidates.length, 1)
  assert.deepEqual([seen.bestMatch.faceId, seen.bestMatch.similarity], [faceId, 1])
  const near = await gallery.value('svc.identify', more)
  assert.deepEqual([near.bestMatch.faceId, near.bestMatch.similarity], [added.faceId, 1])
  const same = await gallery.value('svc.verify', { ...more, subjectId })
  assert.deepEqual([same.faceId, same.similarity], [added.faceId, 1])
  await gallery.value('svc.updateSubject', { subjectId, removeFaceIds: [added.faceId] })
})

test('a gallery without templates of former models is not looked at by them', async () => {
  await using gallery = await restart(changedModels)
  const fresh = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await fresh.value('svc.enroll', { ...imageParams('Ada'), externalId: 'Ada' })
  assert.deepEqual(await identifiedNames(fresh, 'Ada'), ['Ada'])
  assert.ok(gallery.vision.requests.every((look) => look.previousTemplates === undefined))
})

test('what no loaded model knows is counted, and refused when it is all there is', async () => {
  await using gallery = await restart(withoutFormerModels)
  const { subjectId } = enrolledByName.get('Ada') ?? {}
  assert.equal(await gallery.code('svc.identify', imageParams('Ada')), 'MODEL_MISMATCH')
  assert.equal(
    await gallery.code('svc.verify', { ...imageParams('Ada'), subjectId }),
    'MODEL_MISMATCH',
  )
  const zed = await gallery.value('svc.enroll', { ...imageParams('Zed'), externalId: 'Zed' })
  const seen = await gallery.value('svc.identify', imageParams('Zed'))
  assert.deepEqual([seen.bestMatch.externalId, seen.notComparable], ['Zed', enrolledByName.size])
  await gallery.value('svc.deleteSubject', { subjectId: zed.subjectId })
})

test('a face that only a former model knows guards its subject and is met as a duplicate', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId } = enrolledByName.get('Cid') ?? {}
  assert.equal(
    await gallery.code('svc.enroll', { ...imageParams('Not Cid'), subjectId }),
    'SUBJECT_FACE_MISMATCH',
  )
  const again = { ...imageParams('Cid'), duplicateCheck: 'reject' }
  assert.equal(await gallery.code('svc.enroll', again), 'DUPLICATE_SUBJECT')
})

test('a verification goes by the former model, and adds the face only where that is switched on', async () => {
  await using gallery = await restart(changedModels)
  const { subjectId, faceId } = enrolledByName.get('Dan') ?? {}
  const dan = { ...imageParams({ name: 'Dan', deviation: 0.3 }), subjectId }
  const first = await gallery.value('svc.verify', dan, { debug: true })
  assert.deepEqual([first.matched, first.faceId], [true, faceId])
  assert.equal(first.debug.providers.formerRecognizer, 'people@1')
  assert.equal(first.adoptedFaceId, undefined)
  assert.equal((await subjectOf(gallery, subjectId)).embeddingCount, 1)

  await enableSwitches(gallery, { adopt: true })
  const stranger = await gallery.value('svc.verify', { ...imageParams('Eve'), subjectId })
  const unsure = await gallery.value('svc.verify', {
    ...imageParams({ name: 'Dan', deviation: 2 }),
    subjectId,
    threshold: 0.5,
  })
  assert.ok(unsure.matched && unsure.similarity < 0.9, `${unsure.similarity}`)
  const blurred = await gallery.value('svc.verify', {
    ...imageParams({ name: 'Dan', quality: 39 }),
    subjectId,
  })
  const strict = await gallery.value('svc.verify', { ...dan, threshold: 0.999 })
  for (const none of [stranger, unsure, blurred, strict])
    assert.equal(none.adoptedFaceId, undefined)

  const adopted = await gallery.value('svc.verify', dan)
  assert.equal(adopted.faceId, faceId)
  const { embeddingCount, faces } = await subjectOf(gallery, subjectId)
  assert.equal(embeddingCount, 2)
  assert.deepEqual(
    faces.map((face) => [face.faceId, face.modelId]),
    [
      [faceId, 'people@1'],
      [adopted.adoptedFaceId, 'people@2'],
    ],
  )
  const next = await gallery.value('svc.verify', dan, { debug: true })
  assert.deepEqual([next.faceId, next.adoptedFaceId], [adopted.adoptedFaceId, undefined])
  assert.equal(next.debug.providers.formerRecognizer, undefined)
  assert.deepEqual(await identifiedNames(gallery, 'Dan'), ['Dan'])
  await enableSwitches(gallery, { adopt: false })
})

test('a subject that is full is verified all the same, and nothing is added', async () => {
  const environment = { SUBJECT_TEMPLATES_MAX: '1' }
  await using gallery = await startGallery({ dataDir, key, models: changedModels, environment })
  await enableSwitches(gallery, { adopt: true })
  const { subjectId } = enrolledByName.get('Eve') ?? {}
  const seen = await gallery.value('svc.verify', { ...imageParams('Eve'), subjectId })
  assert.deepEqual([seen.matched, seen.adoptedFaceId], [true, undefined])
  assert.equal((await subjectOf(gallery, subjectId)).embeddingCount, 1)
  await enableSwitches(gallery, { adopt: false })
})

test('of two enrolments of one face at the same time, one meets the other', async () => {
  await using gallery = await startGallery({ onAnalyze: () => sleep(20) })
  for (let round = 0; round < 5; round++) {
    const takes = Array.from({ length: 4 }, (_, take) => ({
      ...imageParams({ name: `Twin ${round}`, deviation: 0.2, take }),
      duplicateCheck: 'reject',
    }))
    const answers = await Promise.all(takes.map((take) => gallery.call('svc.enroll', take)))
    const codes = answers.map(({ body }) => body.errors[0]?.code ?? 'OK')
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
  { database: books }: TestGallery,
  switches: Partial<ProjectSwitches>,
): Promise<void> {
  const { db } = books.store
  const rows = await db.selectFrom('projects').select('projectId').execute()
  for (const { projectId } of rows) await updateProject(db, projectId, { switches })
}
