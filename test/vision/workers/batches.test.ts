import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { newId } from '../../../src/lib/ids.ts'
import { findCalls } from '../../support/find-calls.ts'
import type { VisionPool } from '../../../src/vision/workers/vision-pool.ts'
import { samplePortrait } from '../../support/facegate/sample-portrait.ts'
import { spawnFacegate, type FacegateProcess } from '../../support/facegate/spawn-facegate.ts'
import { imageItem } from '../../support/facegate/test-facegate.ts'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { openFaultyPool, waitUntil } from '../../support/vision/faulty-pool.ts'

/** The images of one call at most. */
const batchMax = 10
/** The default of RATE_BURST. */
const defaultBurst = 20

/** Returns image items with one face each; every image is different. */
async function createPortraits(count: number): Promise<object[]> {
  const portrait = await samplePortrait()
  return Promise.all(
    Array.from({ length: count }, async (_, nth) => {
      const bytes = await sharp(portrait)
        .resize(200 + nth)
        .jpeg()
        .toBuffer()
      return imageItem({ bytes, contentType: 'image/jpeg' })
    }),
  )
}

function identifyWith({ post }: Pick<FacegateProcess, 'post'>, images: readonly object[]) {
  return post({ action: 'svc.identify', params: { images } })
}

test('One worker completes two full batches beside two default bursts', async () => {
  // The limits of time do not matter here: the machine may be slow.
  await using facegate = await spawnFacegate({
    VISION_WORKERS: '1',
    VISION_QUEUE_WAIT_MS_MAX: '500000',
    VISION_TIMEOUT_MS: '500000',
    CALL_TIMEOUT_MS: '600000',
  })
  const images = await createPortraits(batchMax)
  const six = await identifyWith(facegate, images.slice(0, 6))
  assert.deepEqual([six.status, six.body.data?.results.length], [200, 6])

  const detectOne = () =>
    facegate.post({ action: 'svc.detect', params: { images: images.slice(0, 1) } })
  const responses = await Promise.all([
    identifyWith(facegate, images),
    identifyWith(facegate, images),
    ...Array.from({ length: 2 * defaultBurst }, detectOne),
  ])
  assert.deepEqual(
    responses.map(({ status, body }) => [status, body.data?.results.length]),
    [[200, batchMax], [200, batchMax], ...responses.slice(2).map(() => [200, 1])],
  )
})

/** Image items for the worker in `test/support/vision/faulty-worker.ts`. */
function fakeItems(...instructions: readonly string[]): object[] {
  return instructions.map((bytes) => ({ kind: 'image', bytes, contentType: 'image/jpeg' }))
}

const repeat = (count: number, instruction: string): string[] =>
  Array.from({ length: count }, (_, nth) => `${instruction} ${nth}`)

let folder: string
let pool: VisionPool
let gallery: TestGallery
let blockerCount = 0

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-batches-'))
  pool = openFaultyPool({ queuePerWorkerMax: batchMax, jobMsMax: 60_000 })
  gallery = await startGallery({ vision: pool, environment: { COMPREFACE_API: 'on' } })
  await pool.ready()
})

after(async () => {
  await gallery[Symbol.asyncDispose]()
  await pool.close()
  await rm(folder, { recursive: true })
})

/** Starts a call whose first image occupies the worker until `unblock` is called. */
async function startBlockedCall(...waiting: readonly string[]) {
  const file = path.join(folder, String(blockerCount++))
  const client = new AbortController()
  const response = fetch(`${gallery.url}/v1/face/execute`, {
    method: 'POST',
    headers: { 'x-api-key': gallery.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      action: 'svc.identify',
      params: { images: fakeItems(`waitForFile ${file}`, ...waiting) },
    }),
    signal: client.signal,
  })
  response.catch(() => {}) // An aborted request is awaited later.
  await waitUntil(() => pool.stats().queued === waiting.length && pool.stats().workersBusy === 1)
  return { response, unblock: () => writeFile(file, ''), disconnect: () => client.abort() }
}

/** Asserts that no worker was lost, after the workers have completed what they were assigned. */
async function assertNoneLostSince(respawns: number): Promise<void> {
  await waitUntil(() => pool.stats().workersBusy === 0 && pool.stats().queued === 0)
  assert.equal((await identifyWith(gallery, fakeItems('fine'))).status, 200)
  assert.equal(pool.stats().respawns, respawns, 'no image that ends the worker was analyzed')
}

test('A batch for which the queue has no room is rejected before any of its images is analyzed', async () => {
  const { respawns } = pool.stats()
  const accepted = await startBlockedCall(...repeat(batchMax - 1, 'fine'))
  const rejected = await identifyWith(gallery, fakeItems(...repeat(2, 'exit')))
  assert.equal(rejected.status, 503)
  assert.match(rejected.body.detail, /the queue is full/u)
  assert.match(rejected.headers.get('retry-after') ?? '', /^[1-9]\d*$/u)

  await accepted.unblock()
  const response = await accepted.response
  const { errors } = (await response.json()) as { errors: { code: string }[] }
  assert.deepEqual(
    [response.status, errors.map(({ code }) => code)],
    [200, Array(batchMax).fill('NO_FACE_FOUND')],
    'every image of the accepted call has an outcome',
  )
  await assertNoneLostSince(respawns)
  const rows = await findCalls(gallery.database.store.db, { limit: 100 })
  assert.deepEqual(
    rows.filter(({ code }) => code === 'HTTP_503'),
    [],
    'the call was rejected before its admission',
  )
})

test('Before its admission, a call is checked with the images that its action analyzes', async () => {
  const accepted = await startBlockedCall(...repeat(batchMax - 1, 'fine'))
  const images = fakeItems(...repeat(2, 'fine'))
  const detection = gallery.post({ action: 'svc.detect', params: { images } })
  await waitUntil(() => pool.stats().queued === batchMax)
  for (const action of ['svc.detect', 'svc.identify']) {
    const { status, headers, body } = await gallery.post({ action, params: { images } })
    assert.deepEqual([status, /the queue is full/u.test(body.detail)], [503, true])
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/u)
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/u)
  }
  // Calls without an image, and parameters that the action rejects, need no room.
  assert.equal(await gallery.code('svc.deleteSubject', { subjectId: newId() }), 'SUBJECT_NOT_FOUND')
  for (const params of [{}, { images: [null, 1, {}] }, { images: 'none' }])
    assert.equal(await gallery.code('svc.detect', params), 'INVALID_REQUEST')
  await accepted.unblock()
  assert.deepEqual([(await detection).status, (await accepted.response).status], [200, 200])
})

test('If one image of a call fails, its waiting images are cancelled', async () => {
  const { respawns } = pool.stats()
  const response = await identifyWith(gallery, fakeItems(...repeat(batchMax, 'exit')))
  assert.equal(response.status, 503)
  await assertNoneLostSince(respawns + 1)
})

test('If one of the two images of svc.verify is rejected, the waiting one is analyzed and reported too', async () => {
  const { respawns } = pool.stats()
  const images = fakeItems('actionError', 'actionError verify')
  const { body } = await gallery.post({ action: 'svc.verify', params: { images } })
  // The worker reports two problems of each image.
  const imageIndexes = body.errors.map(({ imageIndex }: { imageIndex: number }) => imageIndex)
  assert.deepEqual(imageIndexes, [0, 0, 1, 1])
  await assertNoneLostSince(respawns)
})

test('If the client disconnects, the waiting images of its call are cancelled', async () => {
  const { respawns } = pool.stats()
  const call = await startBlockedCall(...repeat(batchMax - 1, 'exit disconnect'))
  call.disconnect()
  await assert.rejects(call.response, { name: 'AbortError' })
  await waitUntil(() => pool.stats().queued === 0)
  await call.unblock()
  await assertNoneLostSince(respawns)
})

test('A CompreFace call with several analyses is rejected whole', async () => {
  const { respawns } = pool.stats()
  // Two places are left, and this call with a plugin needs four analyses.
  const accepted = await startBlockedCall(...repeat(batchMax - 2, 'fine'))
  const response = await fetch(`${gallery.url}/api/v1/verification/verify?face_plugins=age`, {
    method: 'POST',
    headers: { 'x-api-key': gallery.key, 'content-type': 'application/json' },
    body: JSON.stringify({ source_image: 'exit source', target_image: 'exit target' }),
  })
  assert.equal(response.status, 503)
  await accepted.unblock()
  assert.equal((await accepted.response).status, 200)
  await assertNoneLostSince(respawns)
})
