import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allocate } from '../../src/billing/ledger.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { findCalls } from '../support/find-calls.ts'
import { budgetLedger } from '../../src/store/tenancy/projects.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

/** The actions with one result per image, and their price per image in micros. */
const actions = [
  ['svc.detect', 1000n],
  ['svc.analyze', 1000n],
  ['svc.attributes', 1000n],
  ['svc.liveness', 2000n],
] as const

/** Parameters with one image for each person; without a name, the image cannot be decoded. */
function pictures(...people: readonly (FakePerson | string | null)[]) {
  const images = people.map((person, index) => ({
    ...(imageParams(person ?? 'unreadable') as { images: object[] }).images[0],
    ...(person === null && { bytes: 'AAAA' }),
    ...(index !== 1 && { correlationId: `picture ${index}` }),
  }))
  return { images, allImages: true }
}

const lastCost = async (action: string) =>
  (await findCalls(gallery.database.store.db, { action, limit: 1 }))[0]?.costMicros

test('With allImages, each image has one result in its order, and only successes are charged', async () => {
  const params = pictures({ name: 'Ada', side: 100 }, null, { name: 'Bea', side: 300 })
  for (const [action, price] of actions) {
    const requestId = randomUUID()
    const { body } = await gallery.call(action, params, { requestId })
    assert.equal(body.ok, true, JSON.stringify(body))
    const { results } = body.data
    assert.deepEqual(
      results.map((item: { index: number; correlationId: string; ok: boolean }) => [
        item.index,
        item.correlationId,
        item.ok,
      ]),
      [
        [0, 'picture 0', true],
        [1, 'auto-1', false],
        [2, 'picture 2', true],
      ],
      action,
    )
    const widths = [0, 2].map((index) => {
      const { face, faces = [face] } = results[index].value
      return faces[0].boundingBox.width
    })
    assert.deepEqual(widths, [100, 300], action)
    const { code, imageIndex, correlationId } = results[1].value.error
    assert.deepEqual([code, imageIndex, correlationId], ['IMAGE_DECODE_FAILED', 1, 'auto-1'])
    assert.equal('warnings' in results[0].value, false, action)
    assert.equal(await lastCost(action), 2n * price, action)
    const replay = await gallery.call(action, params, { requestId })
    assert.deepEqual(replay.body.data, body.data)
    assert.equal(await lastCost(action), 0n, action)
  }
})

test('If every image fails, the call fails with one error per image and is not charged', async () => {
  for (const [action] of actions) {
    const { body } = await gallery.call(action, pictures(null, null))
    assert.deepEqual([body.ok, body.data], [false, null])
    const errors = body.errors.map((error: { code: string; imageIndex: number }) => [
      error.code,
      error.imageIndex,
    ])
    assert.deepEqual(errors, [
      ['IMAGE_DECODE_FAILED', 0],
      ['IMAGE_DECODE_FAILED', 1],
    ])
    assert.equal(await lastCost(action), 0n)
  }
})

test('The face policy and the minimum quality apply to each image by itself', async () => {
  const images = [...pictures('Cat').images, ...groupOf('Dan', 'Eve').images]
  const params = { images, allImages: true, facePolicy: 'single' }
  for (const [action] of actions) {
    const { body } = await gallery.call(action, params)
    const [first, second] = body.data.results
    assert.deepEqual([first.ok, second.value.error.code], [true, 'MULTIPLE_FACES'], action)
    assert.equal(second.value.error.imageIndex, 1)
  }
})

const groupOf = (...people: readonly string[]) => imageParams(...people) as { images: object[] }

test('Ten images are accepted and eleven are refused', async () => {
  const names = Array.from({ length: 11 }, (_, index) => `person ${index}`)
  for (const [action] of actions) {
    const { body } = await gallery.call(action, pictures(...names.slice(0, 10)))
    assert.equal(body.data.results.length, 10)
    const eleven = await gallery.call(action, pictures(...names))
    const { code, path, message } = eleven.body.errors[0]
    assert.deepEqual([code, path], ['INVALID_REQUEST', 'params.images'])
    assert.match(message, /a list of 1 to 10 items/u)
  }
})

test('The price of all images is reserved before they are analyzed', async () => {
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { store } = gallery.database
  const { balanceMicros } = await findBalance(store.db, budgetLedger(project.projectId))
  await store.write((tx) => allocate(tx, project, 2999n - balanceMicros, Date.now()))
  const three = pictures('Fay', 'Gus', 'Hal')
  assert.equal(await client.code('svc.detect', three), 'PAYMENT_REQUIRED')
  const { body } = await client.call('svc.detect', pictures('Fay', 'Gus'))
  assert.equal(body.data.results.length, 2)
})

test('allImages with a session is refused, and the attempt is not spent', async () => {
  const { body: session } = await gallery.rest('POST', '/v1/liveness/sessions', {})
  const { sessionId: livenessSessionId } = session
  const frames = { ...pictures('Ida', 'Ida', 'Ida'), livenessSessionId }
  const { body } = await gallery.call('svc.liveness', frames)
  const { code, path, message } = body.errors[0]
  assert.deepEqual([code, path], ['INVALID_REQUEST', 'params.allImages'])
  assert.match(message, /must be false or absent with livenessSessionId/u)
  const { images } = frames
  const answer = await gallery.call('svc.liveness', { images, livenessSessionId })
  assert.notEqual(answer.body.errors[0]?.code, 'LIVENESS_SESSION_NOT_FOUND')
})
