import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCalls } from '../support/find-calls.ts'
import { fakeImageFile, sendCompreFace as send } from '../support/compreface/send.ts'
import {
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const recognition = '/api/v1/recognition'

const addFace = (client: GalleryClient, query: string, person: string) =>
  send(client, 'POST', `${recognition}/faces?subject=${query}`, fakeImageFile(person))

test('A name is taken as sent, also if it contains what the SDK writes without encoding', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (const name of ['a?limit=5', 'b?det_prob_threshold=0.9']) {
    const encoded = encodeURIComponent(name)
    assert.equal((await addFace(client, encoded, name)).body.subject, name)
    const { body } = await send(client, 'GET', `${recognition}/faces?subject=${encoded}`)
    assert.equal(body.total_elements, 1)
  }
  const bySdk = await addFace(client, 'c?det_prob_threshold=0.8', 'c')
  assert.equal(bySdk.body.subject, 'c')
})

test('A key without the permission of a detection gets 403, also without an image', async () => {
  const detect = '/api/v1/detection/detect'
  const statuses = async (...permissions: string[]) => {
    const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
    const plain = await send(client, 'POST', detect, {})
    const analyzed = await send(client, 'POST', `${detect}?face_plugins=age`, {})
    return [plain.status, analyzed.status]
  }
  assert.deepEqual(await statuses('svc.identify'), [403, 403])
  assert.deepEqual(await statuses('svc.detect'), [400, 403])
  assert.deepEqual(await statuses('svc.analyze'), [403, 400])
})

test('The request log contains no value of an invalid body', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const number = 4_915_112_345_678
  for (const [method, target, body] of [
    ['POST', 'subjects', { subject: number }],
    ['PUT', 'subjects/Anna', { subject: number }],
    ['POST', 'faces/delete', [number]],
  ] as const) {
    const { status, body: response } = await send(client, method, `${recognition}/${target}`, body)
    assert.equal(status, 400)
    assert.match(response.message, /^body\S+: must be .*4915112345678/u)
  }
  const { projectId } = client.project
  const calls = await findCalls(gallery.database.store.db, { projectId, limit: 10 })
  const messages = calls.map(({ detail }) => JSON.parse(detail ?? '').problems[0].message)
  const rule = 'body.subject: must be text of 1 to 128 characters; received …'
  const listRule = 'body[0]: must be a UUID, such as …; received …'
  assert.deepEqual(messages, [listRule, rule, rule])
})
