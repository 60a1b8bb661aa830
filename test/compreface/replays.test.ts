import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { fakeImageFile, sendCompreFace } from '../support/compreface/send.ts'
import { findCalls } from '../support/find-calls.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

test('The id of a request to another route yields no result of a call', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const sessionId = randomUUID()
  const detected = await sendCompreFace(
    client,
    'POST',
    '/api/v1/detection/detect',
    fakeImageFile('Ada'),
  )
  const session = await client.rest('POST', '/v1/liveness/sessions', { requestId: sessionId })
  const listed = await client.rest('GET', '/v1/subjects')
  for (const { status } of [detected, session, listed]) assert.equal(status, 200)
  const headers = [detected.headers, session.headers, listed.headers]
  const ids = [sessionId, ...headers.map((one) => one.get('x-request-id') ?? '')]
  assert.equal(new Set(ids).size, 4)
  for (const requestId of ids) {
    const count = gallery.vision.requests.length
    const { body } = await client.call('svc.detect', imageParams('Ada'), { requestId })
    const isRefused = body.errors[0]?.code === 'REQUEST_ID_CONFLICT'
    const analyzed = gallery.vision.requests.length - count
    assert.deepEqual([body.meta, analyzed], [undefined, isRefused ? 0 : 1], 'it is no replay')
  }
})

test('A picture that the subject already has is free', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const path = '/api/v1/recognition/faces?subject=anna'
  const form = new FormData()
  form.set('file', new Blob([new Uint8Array(fakeImage('anna').bytes)]), 'anna.jpg')
  const added = [
    await sendCompreFace(client, 'POST', path, fakeImageFile('anna')),
    await sendCompreFace(client, 'POST', path, fakeImageFile('anna')),
    await sendCompreFace(client, 'POST', path, form),
    // This route ignores the plugins, also in its price.
    await sendCompreFace(client, 'POST', `${path}&face_plugins=age`, fakeImageFile('anna')),
  ]
  for (const { status, body } of added)
    assert.deepEqual([status, body.image_id], [201, added[0]?.body.image_id])
  const { projectId } = client.project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 10 })
  assert.deepEqual(rows.map(({ costMicros }) => Number(costMicros)).toReversed(), [2000, 0, 0, 0])
})
