import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const ada: FakePerson = { name: 'Ada', side: 200 }
/** Half the side of Ada's face: still a main face. */
const halfBea: FakePerson = { name: 'Bea', side: 100 }
const smallBea: FakePerson = { name: 'Bea', side: 99 }

const isolated = () => gallery.createProjectClient({ galleryMode: 'isolated' })

test('"single" accepts a further face below half the side of the largest, and rejects one of exactly half', async () => {
  for (const action of ['svc.detect', 'svc.analyze', 'svc.attributes', 'svc.liveness']) {
    const single = { facePolicy: 'single' }
    await gallery.value(action, { ...imageParams(smallBea, ada), ...single })
    assert.equal(
      await gallery.code(action, { ...imageParams(halfBea, ada), ...single }),
      'MULTIPLE_FACES',
      action,
    )
  }
  const client = await isolated()
  assert.equal(await client.code('svc.enroll', imageParams(ada, halfBea)), 'MULTIPLE_FACES')
  const { subjectId, face } = await client.value('svc.enroll', imageParams(smallBea, ada))
  assert.equal(face.boundingBox.width, 200, 'the largest face is enrolled')
  const { matched } = await client.value('svc.verify', { ...imageParams(ada), subjectId })
  assert.equal(matched, true)
  const update = { subjectId, ...imageParams(ada, halfBea) }
  assert.equal(await client.code('svc.updateSubject', update), 'MULTIPLE_FACES')
  await client.value('svc.updateSubject', { subjectId, ...imageParams(ada, smallBea) })
})

test('"strict" counts every face, "largest" none', async () => {
  const params = imageParams(ada, smallBea)
  const client = await isolated()
  const { subjectId } = await client.value('svc.enroll', imageParams(ada))
  const calls: readonly (readonly [string, object])[] = [
    ['svc.detect', params],
    ['svc.analyze', params],
    ['svc.attributes', params],
    ['svc.liveness', params],
    ['svc.enroll', { ...params, duplicateCheck: 'off' }],
    ['svc.verify', { ...params, subjectId }],
    ['svc.identify', params],
  ]
  for (const [action, call] of calls) {
    const { body } = await client.call(action, { ...call, facePolicy: 'strict' })
    const error = body.errors[0] ?? body.data.results[0].error
    assert.equal(error.code, 'MULTIPLE_FACES', action)
    await client.value(action, { ...call, facePolicy: 'largest' })
    await client.value(action, { ...call, ...imageParams(ada), facePolicy: 'strict' })
  }
})

test('"single" searches for the largest face only, also if maxFaces allows more', async () => {
  const client = await isolated()
  await client.value('svc.enroll', { ...imageParams('Bea'), externalId: 'bea' })
  const params = { ...imageParams(ada, smallBea), maxFaces: 5 }
  assert.equal((await client.value('svc.identify', params)).bestMatch.externalId, 'bea')
  const single = await client.value('svc.identify', { ...params, facePolicy: 'single' })
  assert.deepEqual([single.matched, single.faces.length], [false, 1])
})

test('faceCount and the faces of svc.detect and svc.analyze contain the small faces', async () => {
  for (const action of ['svc.detect', 'svc.analyze']) {
    const params = { ...imageParams(smallBea, ada), facePolicy: 'single' }
    const { faceCount, faces } = await gallery.value(action, params)
    assert.deepEqual([faceCount, faces.length], [2, 2])
  }
})

test('A small further face does not prevent the decision live, and requireLiveness accepts it', async () => {
  const params = imageParams(ada, smallBea)
  const { decision, reasons, faceCount } = await gallery.value('svc.liveness', params)
  assert.deepEqual([decision, reasons, faceCount], ['live', [], 2])
  const halved = await gallery.value('svc.liveness', imageParams(ada, halfBea))
  assert.deepEqual([halved.decision, halved.reasons], ['uncertain', ['MULTIPLE_FACES']])
  const client = await isolated()
  const required = { requireLiveness: true }
  await client.value('svc.enroll', { ...params, ...required })
  const halfParams = { ...imageParams(ada, halfBea), ...required }
  assert.equal(await client.code('svc.enroll', halfParams), 'MULTIPLE_FACES')
})

test('svc.analyze reports the only main face as suitable and live, and every other face as not', async () => {
  const assessments = async (...people: FakePerson[]) => {
    const params = { ...imageParams(...people), features: ['liveness'], minFaceSize: 20 }
    const { faces } = await gallery.value('svc.analyze', params)
    type Face = {
      suitableForEnrollment: boolean
      reasons: string[]
      liveness: { reasons: string[] }
    }
    return faces.map(({ suitableForEnrollment, reasons, liveness }: Face) => [
      suitableForEnrollment,
      reasons.includes('MULTIPLE_FACES'),
      liveness.reasons.includes('MULTIPLE_FACES'),
    ])
  }
  const [suitable, other] = [
    [true, false, false],
    [false, true, true],
  ]
  assert.deepEqual(await assessments(ada), [suitable])
  assert.deepEqual(await assessments(ada, smallBea), [suitable, other])
  assert.deepEqual(await assessments(ada, halfBea), [other, other])
  // Faces below the minimum size of an enrollment do not count.
  assert.deepEqual(await assessments({ ...ada, side: 70 }, { ...smallBea, side: 36 }), [
    [true, false, true],
    [false, false, true],
  ])
})

test('CompreFace routes that accept one face follow the same rule', async () => {
  const client = await isolated()
  const post = async (path: string, files: Readonly<Record<string, Buffer>>) => {
    const body = new FormData()
    for (const [name, bytes] of Object.entries(files))
      body.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`)
    const headers = { 'x-api-key': client.key }
    const response = await fetch(`${client.url}/api/v1${path}`, { method: 'POST', headers, body })
    return [response.status, ((await response.json()) as { code?: number }).code]
  }
  const image = (...people: FakePerson[]) => fakeImage(...people).bytes
  const add = '/recognition/faces?subject=ada'
  assert.deepEqual(await post(add, { file: image(ada, halfBea) }), [400, 31])
  assert.deepEqual(await post(add, { file: image(ada, smallBea) }), [201, undefined])
  const verify = '/verification/verify'
  const target = image(ada)
  assert.deepEqual(
    await post(verify, { source_image: image(ada, halfBea), target_image: target }),
    [400, 31],
  )
  assert.deepEqual(
    await post(verify, { source_image: image(ada, smallBea), target_image: target }),
    [200, undefined],
  )
})
