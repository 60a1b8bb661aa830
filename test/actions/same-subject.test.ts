import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCalls } from '../support/find-calls.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

/** Parameters with one image for each entry: the people in it. */
function frames(...images: readonly (readonly (FakePerson | string)[])[]): { images: object[] } {
  return {
    images: images.flatMap((people) => (imageParams(...people) as { images: object[] }).images),
  }
}

/** A frame of Pia; any two have a similarity above 0.80, and one to her template 0.62 to 0.68. */
const pia = (take: number): FakePerson => ({ name: 'Pia', deviation: 1.1, take })
const storedPia: FakePerson = { name: 'Pia', deviation: 2, take: 9 }
const threshold = 0.69

const costOf = async (client: GalleryClient, action: string, params: object) => {
  const value = await client.value(action, params)
  const [row] = await findCalls(gallery.database.store.db, { action, limit: 1 })
  return { value, costMicros: row?.costMicros }
}

const errorOf = async (client: GalleryClient, action: string, params: object) => {
  const { body } = await client.call(action, params)
  assert.equal(body.ok, false)
  const { code, imageIndex } = body.errors[0]
  return [code, imageIndex]
}

test('Frames that miss one by one match as one probe, with one result, charged for each frame', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams(storedPia))
  const six = frames(...[1, 2, 3, 4, 5, 6].map((take) => [pia(take)]))
  const single = await client.call('svc.identify', { ...six, threshold })
  const results: { value: { matched: boolean } }[] = single.body.data.results
  assert.deepEqual(
    results.map(({ value }) => value.matched),
    [false, false, false, false, false, false],
  )
  const params = { ...six, threshold, sameSubject: true }
  const merged = await client.call('svc.identify', params)
  assert.equal(merged.body.data.results.length, 1)
  const { value, costMicros } = await costOf(client, 'svc.identify', params)
  assert.equal(value.bestMatch.subjectId, subjectId)
  assert.equal(value.faces.length, 1)
  assert.equal(costMicros, 12_000n)

  const verified = await costOf(client, 'svc.verify', { ...params, subjectId })
  assert.equal(verified.value.matched, true)
  assert.equal(verified.value.similarity, value.bestMatch.similarity)
  assert.equal(verified.costMicros, 12_000n)
  const one = await costOf(client, 'svc.verify', { ...frames([pia(1)]), threshold, subjectId })
  assert.equal(one.value.matched, false)
  assert.equal(one.costMicros, 2000n)
})

test('A frame of another person, or one that cannot be used, fails the call with its imageIndex', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams(storedPia))
  for (const [action, more] of [
    ['svc.identify', {}],
    ['svc.verify', { subjectId }],
  ] as const) {
    const check = (params: object) =>
      errorOf(client, action, { ...params, ...more, sameSubject: true })
    assert.deepEqual(await check(frames([pia(1)], [pia(2)], ['Rob'])), ['SUBJECT_FACE_MISMATCH', 2])
    assert.deepEqual(await check(frames(['Rob'], [pia(1)], [pia(2)])), ['SUBJECT_FACE_MISMATCH', 0])
    assert.deepEqual(await check(frames([pia(1)], ['Rob'])), ['SUBJECT_FACE_MISMATCH', 1])
    assert.deepEqual(await check(frames([pia(1)], [])), ['NO_FACE_FOUND', 1])
    const spoof = { ...pia(2), liveness: { score: 0 } }
    const live = { ...frames([pia(1)], [spoof]), requireLiveness: true }
    assert.deepEqual(await check(live), ['LIVENESS_FAILED', 1])
    const [row] = await findCalls(gallery.database.store.db, { action, limit: 1 })
    assert.equal(row?.costMicros, 0n)
  }
})

test('Every image that cannot be used is reported, in the order of the images', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams(storedPia))
  const people = {
    good: [pia(1)],
    none: [],
    small: [{ ...pia(2), side: 20 }],
    two: ['Rob', pia(3)],
  }
  type Kind = keyof typeof people
  const codes: Readonly<Record<Kind, string | undefined>> = {
    good: undefined,
    none: 'NO_FACE_FOUND',
    small: 'FACE_TOO_SMALL',
    two: 'MULTIPLE_FACES',
  }
  const calls: readonly (readonly [string, object, ...Kind[]])[] = [
    ['svc.verify', {}, 'small', 'none'],
    ['svc.verify', {}, 'good', 'none'],
    ['svc.verify', { sameSubject: true, subjectId }, 'two', 'good', 'none', 'small'],
    ['svc.identify', { sameSubject: true }, 'two', 'good', 'none', 'small'],
    ['svc.enroll', { allImages: true }, 'small', 'two', 'none'],
  ]
  for (const [action, more, ...kinds] of calls)
    for (let round = 0; round < 3; round++) {
      const sent = frames(...kinds.map((kind) => people[kind])).images
      const images = sent.map((image, index) => ({ ...image, correlationId: kinds[index] }))
      const params = { images, facePolicy: 'single', ...more }
      const { body } = await client.call(action, params)
      const expected = kinds
        .map((kind, index) => [codes[kind], index, kind])
        .filter(([code]) => code !== undefined)
      assert.deepEqual(body.errors.map(reportedImage), expected, action)
    }
})

type ReportedError = {
  readonly code: string
  readonly imageIndex: number
  readonly correlationId: string
}

const reportedImage = ({ code, imageIndex, correlationId }: ReportedError) => [
  code,
  imageIndex,
  correlationId,
]

test('sameSubject needs 2 to 10 images, one face of each and, in svc.verify, a subject', async () => {
  const { subjectId } = await gallery.value('svc.enroll', imageParams(storedPia))
  const list = (count: number) =>
    frames(...Array.from({ length: count }, (_, index) => [pia(index)]))
  const sameSubject = true
  const invalid: readonly (readonly [string, object])[] = [
    ['svc.identify', { ...list(1), sameSubject }],
    ['svc.identify', { ...list(11), sameSubject }],
    ['svc.identify', { ...list(2), sameSubject, maxFaces: 2 }],
    ['svc.verify', { ...list(1), sameSubject, subjectId }],
    ['svc.verify', { ...list(2), sameSubject }],
    ['svc.verify', { ...list(2), subjectId }],
  ]
  for (const [action, params] of invalid)
    assert.equal(
      await gallery.code(action, params),
      'INVALID_REQUEST',
      JSON.stringify(params).slice(-80),
    )
  const ten = { ...list(10), sameSubject, subjectId }
  assert.equal((await gallery.value('svc.verify', ten)).mode, 'imageToSubject')
})

test('An explicit threshold auto is auto even if the project has a threshold', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await client.value('svc.enroll', imageParams('Sue'))
  const { db } = gallery.database.store
  await updateProject(db, client.project.projectId, { identifyThreshold: 0.97 })
  const identify = async (params: object) => {
    const value = await client.value('svc.identify', { ...imageParams('Sue'), ...params })
    return [value.threshold, value.thresholdSource]
  }
  assert.deepEqual(await identify({}), [0.97, 'project'])
  assert.deepEqual(await identify({ threshold: 'auto' }), [0.8, 'auto'])
  assert.deepEqual(await identify({ threshold: 0.9 }), [0.9, 'request'])
})

test('No threshold is below 0.80 by default', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams('Tom'))
  const verified = await client.value('svc.verify', { ...imageParams('Tom'), subjectId })
  assert.equal(verified.threshold, 0.8)
  const searched = await client.value('svc.identify', imageParams('Tom'))
  assert.equal(searched.threshold, 0.8)
})
