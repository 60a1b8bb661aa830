import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { retryDelayMs } from '../../client/src/http/send-with-retries.ts'
import { pathToFileURL } from 'node:url'
import {
  createClient,
  FacegateError,
  type ClientEvent,
  type DetectValue,
  type ItemResult,
} from '../../client/src/node.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

/** Creates an image for the fake vision. */
const imageOf = (...people: readonly (FakePerson | string)[]) => ({
  bytes: fakeImage(...people).bytes,
  contentType: 'image/jpeg' as const,
})

async function createProjectClient() {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  return createClient({ baseUrl: gallery.url, apiKey: key })
}

test('Data that is not an image is rejected before a request is sent', async () => {
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => void events.push(event)
  const client = createClient({ baseUrl: gallery.url, apiKey: gallery.key, onEvent })
  for (const bytes of [new Uint8Array(), Buffer.from('RIFF....WEBP'), new Blob(['GIF89a'])]) {
    await assert.rejects(client.detect(bytes), { code: 'UNSUPPORTED_IMAGE_TYPE' })
    const outcome = await client.try.identify([bytes])
    assert.equal(!outcome.ok && outcome.error.code, 'UNSUPPORTED_IMAGE_TYPE')
  }
  const missing = path.join(tmpdir(), randomUUID())
  await assert.rejects(client.detect(missing), {
    code: 'FILE_NOT_READABLE',
    message: `${missing} cannot be read: there is no such file`,
  })
  const folder = pathToFileURL(tmpdir())
  await assert.rejects(client.detect(folder), {
    message: `${folder.href} cannot be read: it is a folder`,
  })
  await assert.rejects(client.detect(new File(['GIF89a'], 'door.gif')), {
    message: 'door.gif is neither a JPEG nor a PNG',
  })
  const text = path.join(import.meta.dirname, 'arguments.test.ts')
  await assert.rejects(client.detect(text), { message: `${text} is neither a JPEG nor a PNG` })
  // @ts-expect-error a number is not an image
  await assert.rejects(client.detect(17), { code: 'INVALID_ARGUMENT' })
  assert.deepEqual(events, [])
})

test('A parameter that has no JSON is rejected before a request is sent', async () => {
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => void events.push(event)
  const client = createClient({ baseUrl: gallery.url, apiKey: gallery.key, onEvent })
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const invalid = { name: 'FacegateError', code: 'INVALID_ARGUMENT' }
  for (const attributes of [{ n: 1n }, circular, { n: NaN }, { n: -Infinity }]) {
    await assert.rejects(client.enroll(imageOf('Ada'), { attributes }), invalid)
    const outcome = await client.try.enroll(imageOf('Ada'), { attributes })
    assert.equal(!outcome.ok && outcome.error.code, 'INVALID_ARGUMENT')
  }
  await assert.rejects(client.identify(imageOf('Ada'), { threshold: NaN }), {
    ...invalid,
    message: 'the parameters are not JSON: threshold is NaN',
  })
  await assert.rejects(client.livenessSessions.create({ steps: NaN }), invalid)
  // JSON.stringify would send null, and the subject would not expire.
  const expiresAtUtc = new Date('never') as unknown as string
  await assert.rejects(client.enroll(imageOf('Ada'), { expiresAtUtc }), invalid)
  assert.deepEqual(events, [])
})

test('A route rejects an id or a name that cannot be part of its path', async () => {
  const client = await createProjectClient()
  for (const text of ['', '.', '..', '\ud800']) {
    const expected = {
      name: 'FacegateError',
      code: 'INVALID_ARGUMENT',
      message: `${JSON.stringify(text)} is not a valid id or name`,
    }
    const methods = [client.groups.delete, client.livenessSessions.get, client.subjects.get]
    for (const method of methods) await assert.rejects(method(text), expected)
  }
  // @ts-expect-error a group has a name
  await assert.rejects(client.groups.delete(), { code: 'INVALID_ARGUMENT' })
})

test('Calls on `try` return every failure; they throw only the reason of an aborted signal', async () => {
  const client = await createProjectClient()
  const image = imageOf('Ada')
  const both = { subjectId: randomUUID(), externalId: 'badge-1' }
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  // Programs in JavaScript can pass any arguments.
  const attempt = client.try as unknown as Record<string, (...args: unknown[]) => Promise<Failed>>
  const failures: readonly (readonly [code: string, method: string, ...args: unknown[]])[] = [
    ['FILE_NOT_READABLE', 'detect', path.join(tmpdir(), randomUUID())],
    ['INVALID_ARGUMENT', 'detect', 17],
    ['INVALID_ARGUMENT', 'detect', image, {}, { attemptsMax: 0 }],
    ['INVALID_ARGUMENT', 'detect', image, {}, { signal: 5 }],
    ['INVALID_ARGUMENT', 'enroll', []],
    ['INVALID_ARGUMENT', 'enroll', image, { attributes: cyclic }],
    ['INVALID_ARGUMENT', 'verify', image, undefined],
    ['INVALID_ARGUMENT', 'verify', image, both],
    ['INVALID_ARGUMENT', 'verify', image, { externalId: null }],
    ['INVALID_ARGUMENT', 'verify', [image, image], image],
    ['INVALID_ARGUMENT', 'identify', []],
    ['INVALID_ARGUMENT', 'sendLivenessFrames', randomUUID(), undefined],
    ['INVALID_ARGUMENT', 'updateSubject', undefined, {}],
    ['INVALID_ARGUMENT', 'updateSubject', { externalId: 'a' }, { externalId: 'b' }],
    ['INVALID_ARGUMENT', 'deleteSubject', both],
    ['INVALID_ARGUMENT', 'deleteSubject', null],
    ['INVALID_ARGUMENT', 'execute', 'svc.enroll', cyclic],
    ['INVALID_ARGUMENT', 'execute', 'svc.detect', {}, null],
    ['INVALID_REQUEST', 'execute', 'svc.dance', {}],
  ]
  for (const [code, method, ...args] of failures) {
    const outcome = await attempt[method]?.(...args)
    assert.ok(outcome && !outcome.ok, `${method} ${code}`)
    assert.ok(outcome.error instanceof FacegateError && outcome.error.message !== '')
    assert.equal(outcome.error.code, code, `${method}: ${outcome.error.message}`)
  }
  const reason = new Error('the door was closed')
  const signal = AbortSignal.abort(reason)
  await assert.rejects(client.try.detect(image, {}, { signal }), reason)
  const invalid = await client.try.detect(new Uint8Array(), {}, { signal })
  assert.equal(!invalid.ok && invalid.error.code, 'UNSUPPORTED_IMAGE_TYPE')
})

type Failed = { readonly ok: true } | { readonly ok: false; readonly error: FacegateError }

test('Several images of one person are enrolled, identified and verified in one call', async () => {
  const client = await createProjectClient()
  const picturesOf = (name: string, count: number) =>
    Array.from({ length: count }, (_, take) => imageOf({ name, deviation: 0.3, take }))
  const enrolled = await client.enroll([...picturesOf('Ada', 2), imageOf('Ben')], {
    externalId: 'badge-1',
  })
  assert.equal(enrolled.embeddingCount, 2)
  assert.deepEqual(
    enrolled.images?.map((image) => image.enrolled),
    [true, true, false],
  )
  const frames = picturesOf('Ada', 3)
  const found = await client.identify(frames, { sameSubject: true })
  assert.equal(found.bestMatch?.externalId, 'badge-1')
  const verified = await client.verify(frames, { externalId: 'badge-1' })
  assert.equal(verified.matched, true)
  await assert.rejects(client.verify([imageOf('Ada'), imageOf('Ben')], { externalId: 'badge-1' }), {
    code: 'SUBJECT_FACE_MISMATCH',
  })
  const updated = await client.updateSubject({ externalId: 'badge-1' }, { displayName: 'Ada' })
  assert.equal(updated.displayName, 'Ada')
})

test('A list of images has a typed list of results, in every action with allImages', async () => {
  const client = await createProjectClient()
  const images = [{ ...imageOf('Ada'), correlationId: 'door' }, imageOf('Ben', 'Cem'), imageOf()]
  const detected: readonly ItemResult<DetectValue>[] = await client.detect(images)
  assert.deepEqual(
    detected.map((result) => result.ok && result.value.faceCount),
    [1, 2, 0],
  )
  assert.equal(detected[0]?.correlationId, 'door')
  const analyzed = await client.analyze(images, { allImages: true, features: ['quality'] })
  assert.deepEqual(
    analyzed.map((result) => result.ok && result.value.faceCount),
    [1, 2, 0],
  )
  for (const results of [await client.attributes(images), await client.liveness(images)])
    assert.deepEqual(
      results.map((result) => (result.ok ? 'ok' : result.value.error.code)),
      ['ok', 'ok', 'NO_FACE_FOUND'],
    )
  const [only, ...others] = await client.detect([imageOf('Ada')])
  assert.ok(only?.ok && others.length === 0)
  assert.equal((await client.detect(imageOf('Ada'), { allImages: true })).faceCount, 1)
  const none = await client.try.detect([])
  assert.equal(!none.ok && none.error.code, 'INVALID_ARGUMENT')
})

test('allImages and sameSubject can be stated in the calls that imply them', async () => {
  const client = await createProjectClient()
  const images = ['front', 'left'].map((_, take) => imageOf({ name: 'Ada', deviation: 0.3, take }))
  const enrolled = await client.enroll(images, { externalId: 'badge-1', allImages: true })
  assert.equal(enrolled.embeddingCount, 2)
  const subject = { externalId: 'badge-1' }
  assert.equal((await client.verify(images, subject, { sameSubject: true })).matched, true)
  const results = await client.identify(images, { sameSubject: false })
  assert.deepEqual(
    results.map((result) => result.ok && result.value.matched),
    [true, true],
  )
})

test('A subject is deleted by its externalId, which the client resolves to the subjectId', async () => {
  const client = await createProjectClient()
  await client.enroll(imageOf('Eve'), { externalId: 'badge 7&8' })
  const { externalId } = await client.deleteSubject({ externalId: 'badge 7&8' })
  assert.equal(externalId, 'badge 7&8')
  await assert.rejects(client.deleteSubject({ externalId: 'badge 7&8' }), {
    code: 'SUBJECT_NOT_FOUND',
  })
  const repeated = await client.try.deleteSubject({ externalId: 'badge 7&8' })
  assert.equal(!repeated.ok && repeated.error.code, 'SUBJECT_NOT_FOUND')
})

test('The backoff doubles up to its limit, uses full jitter and is added to Retry-After', () => {
  const limitOf = (count: number) => retryDelayMs(count, { retryAfterMs: undefined }, 1)
  assert.deepEqual([1, 2, 3, 6, 7, 20].map(limitOf), [200, 400, 800, 6400, 10_000, 10_000])
  assert.equal(retryDelayMs(5, { retryAfterMs: undefined }, 0), 0)
  assert.equal(retryDelayMs(1, { retryAfterMs: 3000 }, 0.5), 3100)
})
