import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCalls } from '../../src/store/gate/calls.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const recognition = '/api/v1/recognition'

/** A call as clients of CompreFace make it. */
async function send(client: GalleryClient, method: string, place: string, body?: object | string) {
  const isRaw = body instanceof FormData || body instanceof Uint8Array || typeof body === 'string'
  const response = await fetch(`${client.url}${place}`, {
    method,
    headers: { 'x-api-key': client.key, ...(!isRaw && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  const answer: any = await response.json()
  return { status: response.status, headers: response.headers, body: answer }
}

function form(files: Readonly<Record<string, Buffer>>): FormData {
  const data = new FormData()
  for (const [name, bytes] of Object.entries(files))
    data.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`)
  return data
}

const fakeImageFile = (...names: string[]): { readonly file: string } => ({
  file: fakeImage(...names).bytes.toString('base64'),
})

const addExample = (client: GalleryClient, subject: string, name = subject) =>
  send(client, 'POST', `${recognition}/faces?subject=${subject}`, fakeImageFile(name))

test('an example is added, listed, recognised and verified, and is a subject of ours', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const added = await addExample(client, 'anna')
  assert.equal(added.status, 201)
  assert.equal(added.body.subject, 'anna')
  const again = form({ file: fakeImage({ name: 'anna', deviation: 0.3, take: 1 }).bytes })
  assert.equal((await send(client, 'POST', `${recognition}/faces?subject=anna`, again)).status, 201)
  const { body: ours } = await client.rest('GET', '/v1/subjects?externalId=anna&include=faces')
  assert.equal(ours.items[0].faces[0].faceId, added.body.image_id)

  const recognised = await send(
    client,
    'POST',
    `${recognition}/recognize`,
    fakeImageFile('anna', 'ben'),
  )
  const [anna, ben] = recognised.body.result
  assert.deepEqual(anna.subjects[0].subject, 'anna')
  assert.deepEqual(ben.subjects, [], 'strangers have no name')
  assert.deepEqual(Object.keys(anna.box), ['probability', 'x_max', 'y_max', 'x_min', 'y_min'])

  const place = `${recognition}/faces/${added.body.image_id}/verify?face_plugins=landmarks,pose`
  const verified = await send(client, 'POST', place, fakeImageFile('anna'))
  assert.equal(verified.body.result[0].subject, 'anna')
  assert.ok(verified.body.result[0].similarity > 0.9)
  assert.equal(verified.body.result[0].landmarks.length, 5)
  const other = await send(client, 'POST', place, fakeImageFile('ben'))
  assert.ok(other.body.result[0].similarity < 0.7)
})

test('faces are listed by page, of everybody or of one subject', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (const name of ['a', 'b', 'c']) await addExample(client, name)
  const { body } = await send(client, 'GET', `${recognition}/faces?page=1&size=2`)
  const { faces, ...counts } = body
  assert.deepEqual(
    faces.map(({ subject }: { subject: string }) => subject),
    ['c'],
  )
  assert.deepEqual(counts, { page_number: 1, page_size: 2, total_pages: 2, total_elements: 3 })
  const ofB = await send(client, 'GET', `${recognition}/faces?subject=b`)
  assert.equal(ofB.body.total_elements, 1)
  assert.equal((await send(client, 'GET', `${recognition}/faces?subject=x`)).body.total_elements, 0)
  const picture = await send(client, 'GET', `${recognition}/faces/${faces[0].image_id}/img`)
  assert.equal(picture.status, 404)
  assert.match(picture.body.message, /does not keep pictures/u)
})

test('subjects are added without a face, renamed and deleted, each with its record', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const subjects = `${recognition}/subjects`
  const made = await send(client, 'POST', subjects, { subject: 'Zoë & Co/1' })
  assert.deepEqual([made.status, made.body], [201, { subject: 'Zoë & Co/1' }])
  assert.equal((await send(client, 'POST', subjects, { subject: 'Zoë & Co/1' })).status, 400)
  assert.equal((await addExample(client, encodeURIComponent('Zoë & Co/1'), 'zoe')).status, 201)
  await addExample(client, 'ben')
  const old = `${subjects}/${encodeURIComponent('Zoë & Co/1')}`
  assert.equal((await send(client, 'PUT', old, { subject: 'ben' })).status, 400)
  assert.deepEqual((await send(client, 'PUT', old, { subject: 'zoe' })).body, { updated: true })
  const names = { subjects: ['zoe', 'ben'] }
  assert.deepEqual((await send(client, 'GET', subjects)).body, names)
  assert.deepEqual((await send(client, 'GET', `${subjects}/`)).body, names)
  assert.deepEqual((await send(client, 'DELETE', `${subjects}/zoe`)).body, { subject: 'zoe' })
  assert.equal((await send(client, 'DELETE', `${subjects}/zoe`)).status, 404)
  assert.deepEqual((await send(client, 'DELETE', subjects)).body, { deleted: 1 })
  assert.equal((await client.rest('GET', '/v1/deletions')).body.items.length, 2)
})

test('faces are deleted one by one, at once and in a list; with the last goes the subject', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const ids: string[] = []
  for (const name of ['a', 'a', 'b', 'c', 'd'])
    ids.push((await addExample(client, name)).body.image_id)
  const faces = `${recognition}/faces`
  const both = await Promise.all(
    ids.slice(0, 2).map((id) => send(client, 'DELETE', `${faces}/${id}`)),
  )
  assert.deepEqual(
    both.map(({ status, body }) => [status, body.subject]),
    [
      [200, 'a'],
      [200, 'a'],
    ],
  )
  assert.equal((await send(client, 'DELETE', `${faces}/${ids[0]}`)).status, 404)
  const left = await send(client, 'GET', `${recognition}/subjects`)
  assert.deepEqual(left.body.subjects, ['b', 'c', 'd'])
  const list = await send(client, 'POST', `${faces}/delete`, [ids[0] ?? '', ids[2] ?? ''])
  assert.deepEqual(list.body, [{ image_id: ids[2], subject: 'b' }])
  assert.equal((await send(client, 'DELETE', `${faces}?subject=`)).status, 400)
  assert.deepEqual((await send(client, 'DELETE', `${faces}?subject=c`)).body, { deleted: 1 })
  assert.deepEqual((await send(client, 'DELETE', faces)).body, { deleted: 1 })
  const gone = await send(client, 'POST', `${recognition}/recognize`, fakeImageFile('a'))
  assert.deepEqual(gone.body.result[0].subjects, [])
})

test('two pictures are compared, and each call is one charge and one row in the log', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await addExample(client, 'anna')
  const files = {
    source_image: fakeImage('anna').bytes,
    target_image: fakeImage('ben', 'anna').bytes,
  }
  const { body } = await send(client, 'POST', '/api/v1/verification/verify', form(files))
  assert.deepEqual(Object.keys(body.result[0]), ['source_image_face', 'face_matches'])
  const [anna, ben] = body.result[0].face_matches
  assert.ok(anna.similarity > 0.9 && ben.similarity < 0.7, 'the most similar face comes first')
  assert.ok(anna.box.x_min > ben.box.x_min)
  await send(client, 'POST', '/api/v1/detection/detect', fakeImageFile('anna', 'ben'))
  await send(client, 'GET', `${recognition}/subjects`)
  await send(client, 'POST', '/api/v1/detection/detect', fakeImageFile())
  const { projectId } = client.project
  const rows = await findCalls(gallery.database.store.db, { projectId, limit: 10 })
  assert.deepEqual(
    rows.map(({ action, code, costMicros }) => [action, code, Number(costMicros)]).toReversed(),
    [
      ['svc.enroll', 'OK', 2000],
      ['svc.verify', 'OK', 2000],
      ['svc.detect', 'OK', 1000],
      ['GET /api/v1/recognition/subjects', 'OK', 0],
      ['svc.detect', 'NO_FACE_FOUND', 0],
    ],
  )
})

test('what is wrong is said in the shape, with the status and the number of CompreFace', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const detect = '/api/v1/detection/detect'
  const told = async (place: string, body: object | string, as: GalleryClient = client) => {
    const answer = await send(as, 'POST', place, body)
    assert.deepEqual(Object.keys(answer.body), ['message', 'code'])
    return [answer.status, answer.body.code, answer.body.message]
  }
  const noFace = 'No face is found in the given image'
  assert.deepEqual(await told(detect, fakeImageFile()), [400, 28, noFace])
  assert.equal((await told(`${recognition}/faces?subject=x`, fakeImageFile('a', 'b')))[1], 31)
  const two = { source_image: fakeImageFile('a', 'b').file, target_image: fakeImageFile('a').file }
  assert.equal((await told('/api/v1/verification/verify', two))[1], 31)
  const wrong = await told(
    `${detect}?limit=-1&det_prob_threshold=2&face_plugins=age,mask`,
    fakeImageFile('a'),
  )
  assert.deepEqual(wrong.slice(0, 2), [400, 26])
  assert.match(String(wrong[2]), /limit: .*det_prob_threshold: .*mask is not offered/u)
  assert.match(String((await told(`${recognition}/faces`, fakeImageFile('a')))[2]), /^subject: /u)
  assert.match(String((await told(detect, {}))[2]), /^file: the picture is missing/u)
  assert.equal((await told(detect, 'no form'))[0], 415)
  const parts = new FormData()
  for (let at = 0; at < 20; at++) parts.set(`x${at}`, 'x')
  assert.deepEqual((await told(detect, parts)).slice(0, 2), [400, 26])
  const stranger = gallery.withKey(`${client.key.slice(0, -2)}zz`)
  assert.deepEqual((await told(detect, fakeImageFile('a'), stranger)).slice(0, 2), [401, 20])
  const missing = `${recognition}/faces/${crypto.randomUUID()}/verify`
  assert.deepEqual((await told(missing, fakeImageFile('a'))).slice(0, 2), [404, 11])
})

test('a key may do here what it may do there', async () => {
  const permissions = ['svc.identify', 'svc.deleteSubject']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  assert.equal((await addExample(client, 'anna')).status, 403)
  assert.equal((await send(client, 'GET', `${recognition}/subjects`)).status, 403)
  const everybody = await send(client, 'DELETE', `${recognition}/subjects`)
  assert.match(everybody.body.message, /lacks the permission groups:delete/u)
  const recognize = `${recognition}/recognize`
  assert.equal((await send(client, 'POST', recognize, fakeImageFile('a'))).status, 200)
  const withAge = await send(client, 'POST', `${recognize}?face_plugins=age`, fakeImageFile('a'))
  assert.match(withAge.body.message, /lacks the permission svc.analyze/u)
  const status = await send(client, 'POST', `${recognize}?status=true`, fakeImageFile('a'))
  assert.match(status.body.message, /lacks the permission debug/u)
})

test('size, budget and rate hold as for any call', async () => {
  await using small = await startGallery({
    environment: {
      COMPREFACE_API: 'on',
      BODY_BYTES_MAX: '2048',
      STARTER_CREDIT_MICROS: '1500',
      RATE_SUSTAINED_PER_S: '1',
      RATE_BURST: '10',
    },
  })
  const detect = (body: object) => send(small, 'POST', '/api/v1/detection/detect', body)
  const tooLarge = await detect(form({ file: Buffer.alloc(4096) }))
  assert.deepEqual([tooLarge.status, tooLarge.body.code], [413, 26])
  const paid = await detect(fakeImageFile('a'))
  assert.equal(paid.status, 200)
  assert.ok(paid.headers.has('ratelimit-remaining'))
  const unpaid = await detect(fakeImageFile('a'))
  assert.equal(unpaid.status, 402)
  assert.match(unpaid.body.message, /PAYMENT_REQUIRED/u)
  const lists = Array.from({ length: 60 }, () => send(small, 'GET', `${recognition}/subjects`))
  const tooFast = (await Promise.all(lists)).find(({ status }) => status === 429)
  assert.ok(tooFast?.headers.has('retry-after'), 'sixty at once are more than the bucket holds')
  assert.equal(tooFast?.body.code, 0)
})

test('options that the SDK joins with a second question mark are understood', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const place = `${recognition}/faces?subject=anna?det_prob_threshold=2`
  const refused = await send(client, 'POST', place, fakeImageFile('anna'))
  assert.match(refused.body.message, /^det_prob_threshold: /u)
})

test('a subject of ours without an externalId goes by its subjectId', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams('anna'))
  const { body } = await send(client, 'GET', `${recognition}/subjects`)
  assert.deepEqual(body.subjects, [subjectId])
  assert.equal((await addExample(client, subjectId, 'anna')).status, 201)
  const gone = await send(client, 'DELETE', `${recognition}/faces?subject=${subjectId}`)
  assert.deepEqual(gone.body, { deleted: 2 })
})

test('without the switch there is no such route', async () => {
  await using plain = await startGallery()
  assert.equal((await plain.rest('GET', `${recognition}/subjects`)).status, 404)
})
