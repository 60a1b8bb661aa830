import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { validateImage } from '../../src/vision/image/input/validate-image.ts'
import { createFakeVisionClient, unlimitedVisionClient } from '../support/gallery/fake-vision.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { anna, annaImage, encoded, envelope, withImage } from '../support/wrong-calls/wrong-call.ts'
import { wrongBodies, wrongEnvelopes } from '../support/wrong-calls/wrong-bodies.ts'
import { wrongImages } from '../support/wrong-calls/wrong-images.ts'
import { wrongParameters } from '../support/wrong-calls/wrong-parameters.ts'

/**
 * Calls that new users get wrong. For each, the response must contain what a reader needs to correct the
 * call without the documentation: the location, the rule and the remedy.
 */

const imageLimits = { bytesMax: 8 << 20, pixelsMax: 40_000_000, sideMinPx: 32 }

/** Fake images are lists of people; anything else is validated as an image of a caller. */
const fakeVision = createFakeVisionClient()
const vision = unlimitedVisionClient(async (image, request, context) => {
  const isFake = Buffer.from(image.bytes, 'base64').subarray(0, 1).toString() === '['
  if (!isFake) validateImage(image, imageLimits, context.path)
  return fakeVision.analyzeImage(image, request, context)
})

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ vision })
})
after(() => gallery[Symbol.asyncDispose]())

const wrongCalls = [...wrongBodies, ...wrongEnvelopes, ...wrongImages, ...wrongParameters]

/** Texts of the validator and of the JSON parser. */
const internalText =
  /invalid (?:input|guid|string|option|iso)|received undefined|NaN|too (?:big|small):|unexpected|JSON at position/iu

test('The response to each of at least 60 wrong calls states the location, the rule and the remedy', async (t) => {
  assert.ok(wrongCalls.length >= 60, String(wrongCalls.length))
  for (const [title, run, { status = 200, code, path }, ...states] of wrongCalls) {
    const refusal = await run(gallery)
    t.diagnostic(`${title}: ${refusal.text}`)
    const shown = `${title}: ${JSON.stringify(refusal)}`
    assert.deepEqual(
      [refusal.status, refusal.code, refusal.path],
      [status, code, path ?? refusal.path],
      shown,
    )
    for (const text of states) assert.ok(refusal.text.includes(text), `${shown} lacks ${text}`)
    assert.doesNotMatch(refusal.text, internalText, shown)
  }
})

test('A requestId with other content is refused with the remedy', async () => {
  const requestId = randomUUID()
  await gallery.value('svc.detect', anna, { requestId })
  const refusal = await envelope({
    action: 'svc.detect',
    params: { ...anna, maxFaces: 1 },
    requestId,
  })(gallery)
  assert.deepEqual([refusal.code, refusal.path], ['REQUEST_ID_CONFLICT', 'requestId'])
  assert.match(refusal.text, /Use a new requestId/u)
})

test('An error names the image, its correlationId and what to change', async () => {
  const empty = { ...annaImage, bytes: encoded('[]'), correlationId: 'passport' }
  const { body } = await gallery.call('svc.verify', { images: [annaImage, empty] })
  const { code, path, imageIndex, correlationId, hint } = body.errors[0]
  assert.deepEqual(
    [code, path, imageIndex, correlationId],
    ['NO_FACE_FOUND', 'params.images[1]', 1, 'passport'],
  )
  assert.equal(typeof hint, 'string')
  const batch = await gallery.call('svc.identify', { images: [annaImage, empty] })
  const { error } = batch.body.data.results[1].value
  assert.deepEqual([error.imageIndex, error.correlationId], [1, 'passport'])
  const named = await gallery.call('svc.detect', { images: [annaImage, { ...empty, kind: 'x' }] })
  assert.deepEqual(
    [named.body.errors[0].imageIndex, named.body.errors[0].correlationId],
    [1, 'passport'],
  )
  const unnamed = await gallery.call('svc.detect', withImage({ kind: 'x' }))
  assert.equal(unnamed.body.errors[0].correlationId, 'auto-0')
})

test('An error that is found before the parameters are read carries the correlationId of its image', async () => {
  const image = { ...annaImage, correlationId: 'door 3' }
  const params = { images: [image] }
  const second = { images: [image, { ...annaImage, correlationId: 'nul \0' }] }
  const requestId = randomUUID()
  await gallery.value('svc.detect', params, { requestId })
  const calls: readonly (readonly [
    code: string,
    correlationId: string | undefined,
    body: object,
  ])[] = [
    ['INVALID_REQUEST', 'door 3', { action: 'svc.dance', params }],
    ['INVALID_REQUEST', 'door 3', { action: 'svc.detect', params, debug: 'yes' }],
    ['INVALID_REQUEST', 'door 3', { action: 'svc.detect', params, more: 1 }],
    ['INVALID_REQUEST', 'nul \uFFFD', { action: 'svc.detect', params: second }],
    ['REQUEST_ID_CONFLICT', 'door 3', { action: 'svc.analyze', params, requestId }],
    ['INVALID_REQUEST', undefined, { action: 'svc.dance', params: { images: [annaImage] } }],
    [
      'INVALID_REQUEST',
      undefined,
      { action: 'svc.dance', params: { images: [{ correlationId: 7 }] } },
    ],
  ]
  for (const [code, correlationId, body] of calls) {
    const [error] = (await gallery.post(body)).body.errors
    assert.deepEqual(
      [error.code, error.correlationId],
      [code, correlationId],
      JSON.stringify(error),
    )
  }
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated', permissions: ['x'] })
  const refused = await gallery.withKey(key).call('svc.detect', params)
  const { code, correlationId } = refused.body.errors[0]
  assert.deepEqual([code, correlationId], ['FORBIDDEN', 'door 3'])
})

test('A message repeats only numbers, media types and names of fields and groups of the request', async () => {
  const canary = 'Zuckmayer'
  const images = [{ ...annaImage, correlationId: 'door 3' }]
  const { subjectId } = await gallery.value('svc.enroll', anna)
  const quoted: readonly (readonly [string, object, string])[] = [
    ['svc.identify', { images, groups: ['guests'] }, 'guests'],
    ['svc.updateSubject', { subjectId, addGroups: ['a'], removeGroups: ['a'] }, ' a,'],
    ['svc.detect', { images, maxFaces: 4711 }, '4711'],
    ['svc.detect', { images, [canary]: 1 }, canary],
    ['svc.detect', withImage({ contentType: 'image/tiff' }), 'image/tiff'],
  ]
  for (const [action, params, text] of quoted) {
    const [error] = (await gallery.call(action, params)).body.errors
    assert.ok(error.message.includes(text), error.message)
    assert.equal(error.correlationId, error.imageIndex === 0 ? 'auto-0' : undefined, error.message)
  }
  const described: readonly (readonly [string, object])[] = [
    ['svc.identify', { images, threshold: canary, facePolicy: canary }],
    ['svc.enroll', { images, displayName: `${canary}\n`, expiresAtUtc: canary }],
    ['svc.enroll', { images, externalId: canary.repeat(20), groups: [`${canary} ${canary}`] }],
    ['svc.verify', { images, externalId: canary }],
    ['svc.detect', withImage({ kind: canary, bytes: `${canary}?` })],
    ['svc.updateSubject', { subjectId: canary }],
  ]
  for (const [action, params] of described)
    for (const { message, hint } of (await gallery.call(action, params)).body.errors)
      assert.ok(!`${message} ${hint}`.includes(canary), message)
})

test('null for an optional field and its absence are the same call under one requestId', async () => {
  const requestId = randomUUID()
  const absent = await gallery.call('svc.detect', anna, { requestId })
  const nulls = { ...withImage({ correlationId: null }), maxFaces: null, allImages: null }
  const replay = await gallery.call('svc.detect', nulls, { requestId, debug: null })
  assert.deepEqual(replay.body.data, absent.body.data)
  assert.deepEqual(replay.body.meta, { idempotencyReplay: true })
  const { subjectId } = await gallery.value('svc.enroll', { ...anna, displayName: 'Anna' })
  const clearing = randomUUID()
  const cleared = await gallery.value(
    'svc.updateSubject',
    { subjectId, displayName: null, groups: undefined, addGroups: null },
    { requestId: clearing },
  )
  assert.equal(cleared.displayName, null)
  const other = await gallery.call('svc.updateSubject', { subjectId }, { requestId: clearing })
  assert.equal(other.body.errors[0].code, 'REQUEST_ID_CONFLICT')
})

test('A byte order mark, a trailing slash and null for optional fields are accepted', async () => {
  const params = { ...withImage({ correlationId: null }), maxFaces: null }
  const body = JSON.stringify({ action: 'svc.detect', params, requestId: null, debug: null })
  const { key, url } = gallery
  const post = (sent: string, path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: sent,
    })
  for (const [path, headers] of [
    ['/v1/face/execute', { 'x-api-key': key }],
    ['/v1/face/execute/', { 'x-api-key': key }],
  ] as const) {
    const response = await post(`\uFEFF${body}`, path, headers)
    const answer = (await response.json()) as { ok?: boolean }
    assert.deepEqual([response.status, answer.ok], [200, true], JSON.stringify([path, answer]))
  }
  const slash = await fetch(`${url}/v1/subjects/`, { headers: { 'x-api-key': key } })
  assert.equal(slash.status, 200)
  const emptyName = await fetch(`${url}/v1/groups/`, {
    method: 'DELETE',
    headers: { 'x-api-key': key },
  })
  assert.ok([404, 405].includes(emptyName.status))
})
