import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allocate } from '../../src/billing/ledger.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { findCalls } from '../support/find-calls.ts'
import { budgetLedger } from '../../src/store/tenancy/projects.ts'
import type { Project } from '../../src/store/tenancy/projects.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

/** A picture of one person; two takes of it have a similarity of 0.93 to 0.96. */
const take = (name: string, number: number): FakePerson => ({ name, deviation: 0.8, take: number })

/** Parameters with one image for each entry: the people in it. */
function pictures(...images: readonly (readonly (FakePerson | string)[])[]): { images: object[] } {
  return {
    images: images.flatMap((people) => (imageParams(...people) as { images: object[] }).images),
  }
}

const enrollAll = (params: object, options: object = {}) =>
  gallery.value('svc.enroll', { ...params, allImages: true }, options)

const lastCall = async () => {
  const [row] = await findCalls(gallery.database.store.db, { action: 'svc.enroll', limit: 1 })
  return { code: row?.code, costMicros: row?.costMicros, requestId: row?.requestId }
}

const codesOf = (value: { images: { error?: { code: string } }[] }) =>
  value.images.map(({ error }) => error?.code ?? 'enrolled')

test('allImages enrolls each picture of the person, refuses the others, and charges the enrolled ones', async () => {
  const params = pictures(
    [take('Ada', 1)],
    ['Another person'],
    [take('Ada', 2)],
    [],
    [{ ...take('Ada', 3), quality: 10 }],
    [take('Ada', 4)],
  )
  const requestId = randomUUID()
  const value = await enrollAll({ ...params, externalId: 'ada' }, { requestId })
  assert.deepEqual(codesOf(value), [
    'enrolled',
    'SUBJECT_FACE_MISMATCH',
    'enrolled',
    'NO_FACE_FOUND',
    'LOW_QUALITY',
    'enrolled',
  ])
  assert.deepEqual(
    value.images.map(({ index }: { index: number }) => index),
    [0, 1, 2, 3, 4, 5],
  )
  const located = value.images.map(
    ({ face, error }: { face?: { faceIndex: number }; error?: { path: string } }) =>
      face?.faceIndex ?? error?.path,
  )
  assert.deepEqual(located, [0, 'params.images[1]', 0, 'params.images[3]', 'params.images[4]', 0])
  assert.deepEqual(value.face, value.images[0].face)
  assert.deepEqual([value.created, value.embeddingCount, value.warnings], [true, 3, undefined])
  assert.equal(value.faceId, value.images[0].faceId)
  assert.deepEqual(value.images[1].faceId, undefined)
  assert.deepEqual(await lastCall(), { code: 'OK', costMicros: 6000n, requestId })
  const { body } = await gallery.rest('GET', `/v1/subjects/${value.subjectId}?include=faces`)
  const faceIds = body.faces.map(({ faceId }: { faceId: string }) => faceId)
  assert.deepEqual(
    faceIds.toSorted(),
    value.images.flatMap(({ faceId }: { faceId?: string }) => faceId ?? []).toSorted(),
  )

  const again = await gallery.call(
    'svc.enroll',
    { ...params, externalId: 'ada', allImages: true },
    { requestId },
  )
  assert.deepEqual(again.body.data.results[0].value, value)
  assert.deepEqual(again.body.meta, { idempotencyReplay: true })
  assert.equal((await lastCall()).costMicros, 0n)
})

test('If no picture is enrolled, the call fails with the error of each image and costs nothing', async () => {
  const { body } = await gallery.call('svc.enroll', {
    ...pictures([], [{ name: 'Bob', side: 20 }]),
    externalId: 'bob',
    allImages: true,
  })
  assert.deepEqual([body.ok, body.data], [false, null])
  assert.deepEqual(
    body.errors.map(({ code, imageIndex }: { code: string; imageIndex: number }) => [
      code,
      imageIndex,
    ]),
    [
      ['NO_FACE_FOUND', 0],
      ['FACE_TOO_SMALL', 1],
    ],
  )
  assert.deepEqual((await lastCall()).costMicros, 0n)
  const { body: list } = await gallery.rest('GET', '/v1/subjects?externalId=bob')
  assert.deepEqual(list.items, [])
})

test('Pictures beyond the template limit are refused, and the others are enrolled', async () => {
  const first = pictures(...Array.from({ length: 10 }, (_, index) => [take('Cleo', index)]))
  const { subjectId } = await enrollAll(first)
  const next = pictures(...Array.from({ length: 9 }, (_, index) => [take('Cleo', 10 + index)]))
  await enrollAll({ ...next, subjectId })
  const value = await enrollAll({
    ...pictures([take('Cleo', 30)], [take('Cleo', 31)]),
    subjectId,
  })
  assert.deepEqual(codesOf(value), ['enrolled', 'TEMPLATE_LIMIT_REACHED'])
  assert.equal(value.embeddingCount, 20)
  assert.equal((await lastCall()).costMicros, 2000n)
  const full = { ...pictures([take('Cleo', 40)]), subjectId, allImages: true }
  assert.equal(await gallery.code('svc.enroll', full), 'TEMPLATE_LIMIT_REACHED')
})

test('For an existing subject, pictures of another person are refused even if they are the majority', async () => {
  const { subjectId } = await gallery.value('svc.enroll', imageParams(take('Dora', 0)))
  const params = {
    ...pictures([take('Eve', 1)], [take('Eve', 2)], [take('Dora', 1)]),
    subjectId,
  }
  const value = await enrollAll(params)
  assert.deepEqual(codesOf(value), ['SUBJECT_FACE_MISMATCH', 'SUBJECT_FACE_MISMATCH', 'enrolled'])
  assert.equal(value.embeddingCount, 2)
  const forced = await enrollAll({ ...params, force: true })
  assert.deepEqual(codesOf(forced), ['enrolled', 'enrolled', 'FACE_ALREADY_ENROLLED'])
  assert.equal(forced.images[2].faceId, value.faceId)
})

test('With allImages a picture needs a similarity of 0.80 to the subject; one added face 0.50', async () => {
  const { subjectId } = await gallery.value('svc.enroll', imageParams('Fay'))
  const add = async (deviation: number, allImages: boolean) => {
    const params = { ...imageParams({ name: 'Fay', deviation, take: 1 }), subjectId }
    const { similarity } = await gallery.value('svc.verify', params)
    const { body } = await gallery.call('svc.enroll', { ...params, allImages })
    return { similarity, code: body.errors[0]?.code }
  }
  const below = await add(2.6, true)
  assert.ok(below.similarity > 0.7 && below.similarity < 0.8, String(below.similarity))
  assert.equal(below.code, 'SUBJECT_FACE_MISMATCH')
  const above = await add(2.1, true)
  assert.ok(above.similarity > 0.8 && above.similarity < 0.9, String(above.similarity))
  assert.equal(above.code, undefined)
  assert.equal((await add(2.6, false)).code, undefined)
})

test('A picture whose template is stored is not added again', async () => {
  const params = { ...imageParams(take('Gil', 1)), externalId: 'gil' }
  const { faceId, subjectId } = await gallery.value('svc.enroll', params)
  const again = await gallery.value('svc.enroll', params)
  assert.deepEqual(
    [again.subjectId, again.faceId, again.created, again.embeddingCount],
    [subjectId, faceId, false, 1],
  )
  assert.match(again.warnings[0], /already has the template of this picture/u)
  assert.equal((await lastCall()).costMicros, 0n)
  const updated = await gallery.value('svc.updateSubject', {
    ...imageParams(take('Gil', 1)),
    subjectId,
  })
  assert.equal(updated.embeddingCount, 1)

  const several = await enrollAll({
    ...pictures([take('Gil', 1)], [take('Gil', 2)], [take('Gil', 2)]),
    externalId: 'gil',
  })
  assert.deepEqual(codesOf(several), ['FACE_ALREADY_ENROLLED', 'enrolled', 'FACE_ALREADY_ENROLLED'])
  assert.equal(several.images[0].faceId, faceId)
  assert.deepEqual(several.images[2].faceId, several.images[1].faceId)
  assert.equal((await lastCall()).costMicros, 2000n)
  const repeated = { ...params, allImages: true }
  assert.equal(await gallery.code('svc.enroll', repeated), 'FACE_ALREADY_ENROLLED')
  assert.equal((await lastCall()).costMicros, 0n)

  // The only face can be replaced by the same picture.
  const { body } = await gallery.rest('GET', `/v1/subjects/${subjectId}?include=faces`)
  const removeFaceIds = body.faces.map((face: { faceId: string }) => face.faceId)
  const replaced = await gallery.value('svc.updateSubject', {
    ...imageParams(take('Gil', 1)),
    subjectId,
    removeFaceIds,
  })
  assert.equal(replaced.embeddingCount, 1)
})

test('requireLiveness applies to each picture', async () => {
  const value = await enrollAll({
    ...pictures(
      [take('Hal', 1)],
      [{ ...take('Hal', 2), liveness: { score: 0.1 } }],
      [{ ...take('Hal', 3), liveness: { score: 0.45 } }],
    ),
    requireLiveness: true,
  })
  assert.deepEqual(codesOf(value), ['enrolled', 'LIVENESS_FAILED', 'LIVENESS_FAILED'])
  assert.match(value.images[2].error.message, /: INCONCLUSIVE$/u)
})

test('Another subject is reported once as a duplicate of several pictures, or rejects the call', async () => {
  const { subjectId } = await gallery.value('svc.enroll', imageParams(take('Ida', 0)))
  const params = pictures([take('Ida', 1)], [take('Ida', 2)], ['Zoe'])
  const rejected = { ...params, allImages: true, duplicateCheck: 'reject' }
  assert.equal(await gallery.code('svc.enroll', rejected), 'DUPLICATE_SUBJECT')
  const { duplicates } = await enrollAll(params)
  assert.deepEqual(
    duplicates.map((other: { subjectId: string }) => other.subjectId),
    [subjectId],
  )
})

test('The price of all pictures is reserved, and only the enrolled pictures are charged', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { project } = client
  const balance = async ({ projectId }: Project) =>
    (await findBalance(gallery.database.store.db, budgetLedger(projectId))).balanceMicros
  const setBudget = async (micros: bigint) => {
    const change = micros - (await balance(project))
    await gallery.database.store.write((tx) => allocate(tx, project, change, Date.now()))
  }
  const params = { ...pictures([take('Jon', 1)], [], [take('Jon', 2)]), allImages: true }
  await setBudget(5999n)
  assert.equal(await client.code('svc.enroll', params), 'PAYMENT_REQUIRED')
  await setBudget(6000n)
  const value = await client.value('svc.enroll', params)
  assert.equal(value.embeddingCount, 2)
  assert.equal(await balance(project), 2000n)
  const tooMany = pictures(...Array.from({ length: 11 }, () => ['Jon']))
  await setBudget(100_000n)
  const { body } = await client.call('svc.enroll', { ...tooMany, allImages: true })
  assert.match(body.errors[0].message, /a list of 1 to 10 items/u)
})

test('Enrollment warns of a single template, of a quality below 75 and of images that were not used', async () => {
  const one = await gallery.value('svc.enroll', {
    ...pictures([{ ...take('Kim', 1), quality: 74 }], [take('Kim', 2)]),
    externalId: 'kim',
  })
  assert.equal(one.embeddingCount, 1)
  assert.equal(one.images, undefined)
  assert.deepEqual(one.warnings, [
    'images[1] and later were not used; set allImages',
    'the subject has one template only; add a second picture to reduce misses',
    'images[0]: the quality is 74, below 75; expect more misses, and replace the picture if you can',
  ])
  assert.equal((await lastCall()).costMicros, 2000n)
  const two = await gallery.value('svc.enroll', {
    ...imageParams({ ...take('Kim', 2), quality: 75 }),
    externalId: 'kim',
  })
  assert.deepEqual([two.embeddingCount, two.warnings], [2, undefined])
})

test('Every action that uses only the first image warns of further images', async () => {
  for (const action of ['svc.detect', 'svc.liveness', 'svc.analyze', 'svc.attributes']) {
    const two = await gallery.value(action, pictures(['Lou'], ['Max']))
    const expected = ['images[1] and later were not used; set allImages']
    assert.deepEqual(two.warnings, expected, action)
    const one = await gallery.value(action, pictures(['Lou']))
    assert.ok(!('warnings' in one), action)
  }
})
