import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCalls } from '../support/find-calls.ts'
import { fakeImageFile, sendCompreFace as send } from '../support/compreface/send.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const unsupportedHeader = 'x-unsupported-plugins'

const routes = [
  ['/api/v1/detection/detect', fakeImageFile('anna')],
  ['/api/v1/recognition/recognize', fakeImageFile('anna')],
  [
    '/api/v1/verification/verify',
    { source_image: fakeImageFile('anna').file, target_image: fakeImageFile('anna').file },
  ],
] as const

test('Plugins that Facegate lacks are left out of the response and named in a header', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (const [route, image] of routes) {
    const target = `${route}?face_plugins=mask,gender,age,calculator,landmarks,pose,landmarks2d106`
    const { status, headers, body } = await send(client, 'POST', target, image)
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(headers.get(unsupportedHeader), 'mask,calculator,landmarks2d106')
    const face = body.result[0].source_image_face ?? body.result[0]
    for (const plugin of ['landmarks', 'pose']) assert.ok(face[plugin], plugin)
    for (const plugin of ['mask', 'embedding', 'calculator']) assert.ok(!(plugin in face), plugin)
  }
  const [route, image] = routes[0]
  const supported = await send(client, 'POST', `${route}?face_plugins=age, gender,`, image)
  assert.equal(supported.status, 200)
  assert.equal(supported.headers.get(unsupportedHeader), null)
  const unset = await send(client, 'POST', `${route}?face_plugins=undefined`, image)
  assert.equal(unset.headers.get(unsupportedHeader), 'undefined')
})

test('A face that the built-in detector just accepts is returned at the threshold 0.8', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const image = fakeImageFile({ name: 'anna', confidence: 0.62 })
  const detect = '/api/v1/detection/detect'
  const accepted = await send(client, 'POST', `${detect}?det_prob_threshold=0.8`, image)
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body))
  assert.equal(accepted.body.result[0].box.probability, 0.81)
  const rejected = await send(client, 'POST', `${detect}?det_prob_threshold=0.82`, image)
  assert.deepEqual([rejected.status, rejected.body.code], [400, 28])
})

test('Requests for images and embeddings, and detect_faces=false, fail with errors of CompreFace', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const failures = [
    ['GET', `/api/v1/static/${client.key}/images/${crypto.randomUUID()}`, undefined, 404, 11],
    ['GET', `/api/v1/recognition/faces/${crypto.randomUUID()}/img`, undefined, 404, 11],
    ['POST', '/api/v1/recognition/embeddings/recognize', { embeddings: [[1]] }, 400, 26],
    [
      'POST',
      `/api/v1/recognition/embeddings/faces/${crypto.randomUUID()}/verify`,
      { embeddings: [[1]] },
      400,
      26,
    ],
    ['POST', '/api/v1/verification/embeddings/verify', { source: [1], targets: [[1]] }, 400, 26],
    ['POST', '/api/v1/recognition/recognize?detect_faces=false', fakeImageFile('anna'), 400, 26],
  ] as const
  const messages: string[] = []
  for (const [method, target, sent, status, code] of failures) {
    const response = await send(client, method, target, sent)
    assert.deepEqual(Object.keys(response.body), ['message', 'code'], target)
    assert.deepEqual([response.status, response.body.code], [status, code], target)
    messages.push(response.body.message)
  }
  assert.match(messages[0] ?? '', /does not store images/u)
  assert.match(messages[2] ?? '', /neither accepts nor returns embeddings; send the image/u)
  assert.match(messages.at(-1) ?? '', /detect_faces: must be true or absent: [^;.]+$/u)
  const detected = '/api/v1/recognition/recognize?detect_faces=true'
  assert.equal((await send(client, 'POST', detected, fakeImageFile('anna'))).status, 200)
  const { projectId } = client.project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 10 })
  assert.deepEqual(new Set(rows.map(({ costMicros }) => Number(costMicros))), new Set([0, 2000]))
  const unauthorized = gallery.withKey('fsk_live_x')
  const embeddings = '/api/v1/recognition/embeddings/recognize'
  const rejected = await send(unauthorized, 'POST', embeddings, { embeddings: [] })
  assert.deepEqual([rejected.status, rejected.body.code], [401, 20])
})

test('A JSON body without an image is one value of at most 64 KiB', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const faces = '/api/v1/recognition/faces?subject=anna'
  const { body: anna } = await send(client, 'POST', faces, fakeImageFile('anna'))
  const post = (target: string, text: string) =>
    fetch(`${client.url}/api/v1/recognition${target}`, {
      method: 'POST',
      headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
      body: text,
    })
  const subject = (byteCount: number) => '{"subject":"ben"}'.padEnd(byteCount)
  assert.equal((await post('/subjects', subject(65_536))).status, 201)
  assert.equal((await post('/subjects', subject(65_537))).status, 413)
  const list = JSON.stringify([anna.image_id])
  assert.equal((await post('/faces/delete', `${list},"more":[1]`)).status, 400)
  const { body } = await send(client, 'GET', faces)
  assert.equal(body.faces.length, 1, 'a refused body deletes no face')
  assert.equal((await post('/faces/delete', list)).status, 200)
})
