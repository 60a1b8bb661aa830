import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findCalls } from '../support/find-calls.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'
import { fakeImageFile, sendCompreFace as send } from '../support/compreface/send.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { COMPREFACE_API: 'on' } })
})
after(() => gallery[Symbol.asyncDispose]())

const recognition = '/api/v1/recognition'

function createForm(files: Readonly<Record<string, Buffer>>): FormData {
  const data = new FormData()
  for (const [name, bytes] of Object.entries(files))
    data.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`)
  return data
}

const addFace = (client: GalleryClient, subject: string, person: FakePerson | string = subject) =>
  send(client, 'POST', `${recognition}/faces?subject=${subject}`, fakeImageFile(person))

test('A face is added, recognized and verified, and is a face of a Facegate subject', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const added = await addFace(client, 'anna')
  assert.equal(added.status, 201)
  assert.equal(added.body.subject, 'anna')
  const again = createForm({ file: fakeImage({ name: 'anna', deviation: 0.3, take: 1 }).bytes })
  assert.equal((await send(client, 'POST', `${recognition}/faces?subject=anna`, again)).status, 201)
  const { body: subjects } = await client.rest('GET', '/v1/subjects?externalId=anna&include=faces')
  assert.equal(subjects.items[0].faces[0].faceId, added.body.image_id)

  const recognized = await send(
    client,
    'POST',
    `${recognition}/recognize`,
    fakeImageFile('anna', 'ben'),
  )
  const [anna, ben] = recognized.body.result
  assert.deepEqual(anna.subjects[0].subject, 'anna')
  assert.deepEqual(ben.subjects, [], 'an unenrolled person has no subjects')
  assert.deepEqual(Object.keys(anna.box), ['probability', 'x_max', 'y_max', 'x_min', 'y_min'])

  const target = `${recognition}/faces/${added.body.image_id}/verify?face_plugins=landmarks,pose`
  const verified = await send(client, 'POST', target, fakeImageFile('anna'))
  assert.equal(verified.body.result[0].subject, 'anna')
  assert.ok(verified.body.result[0].similarity > 0.9)
  assert.equal(verified.body.result[0].landmarks.length, 5)
  const other = await send(client, 'POST', target, fakeImageFile('ben'))
  assert.ok(other.body.result[0].similarity < 0.7)
})

test('The faces of the gallery or of one subject are listed in pages', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  for (const name of ['a', 'b', 'c']) await addFace(client, name)
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
  const image = await send(client, 'GET', `${recognition}/faces/${faces[0].image_id}/img`)
  assert.equal(image.status, 404)
  assert.match(image.body.message, /does not store images/u)
})

test('Subjects are added without a face, renamed and deleted, each with a deletion record', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const subjects = `${recognition}/subjects`
  const created = await send(client, 'POST', subjects, { subject: 'Zoë & Co/1' })
  assert.deepEqual([created.status, created.body], [201, { subject: 'Zoë & Co/1' }])
  assert.equal((await send(client, 'POST', subjects, { subject: 'Zoë & Co/1' })).status, 400)
  assert.equal((await addFace(client, encodeURIComponent('Zoë & Co/1'), 'zoe')).status, 201)
  await addFace(client, 'ben')
  const oldPath = `${subjects}/${encodeURIComponent('Zoë & Co/1'.normalize('NFD'))}`
  assert.deepEqual((await send(client, 'PUT', oldPath, { subject: 'zoe' })).body, { updated: true })
  const names = { subjects: ['zoe', 'ben'] }
  assert.deepEqual((await send(client, 'GET', subjects)).body, names)
  assert.deepEqual((await send(client, 'GET', `${subjects}/`)).body, names)
  assert.deepEqual((await send(client, 'DELETE', `${subjects}/zoe`)).body, { subject: 'zoe' })
  assert.equal((await send(client, 'DELETE', `${subjects}/zoe`)).status, 404)
  assert.deepEqual((await send(client, 'DELETE', subjects)).body, { deleted: 1 })
  assert.equal((await client.rest('GET', '/v1/deletions')).body.items.length, 2)
})

test('Faces are deleted singly, concurrently and as a list; deleting the last one deletes the subject', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const ids: string[] = []
  for (const name of ['a', 'a', 'b', 'c', 'd']) {
    const picture = { name, deviation: 0.3, take: ids.length }
    ids.push((await addFace(client, name, picture)).body.image_id)
  }
  const repeated = await addFace(client, 'd', { name: 'd', deviation: 0.3, take: 4 })
  assert.deepEqual([repeated.status, repeated.body.image_id], [201, ids[4]])
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
  const remaining = await send(client, 'GET', `${recognition}/subjects`)
  assert.deepEqual(remaining.body.subjects, ['b', 'c', 'd'])
  const list = await send(client, 'POST', `${faces}/delete`, [ids[0] ?? '', ids[2] ?? ''])
  assert.deepEqual(list.body, [{ image_id: ids[2], subject: 'b' }])
  assert.equal((await send(client, 'DELETE', `${faces}?subject=`)).status, 400)
  assert.deepEqual((await send(client, 'DELETE', `${faces}?subject=c`)).body, { deleted: 1 })
  assert.deepEqual((await send(client, 'DELETE', faces)).body, { deleted: 1 })
  const unmatched = await send(client, 'POST', `${recognition}/recognize`, fakeImageFile('a'))
  assert.deepEqual(unmatched.body.result[0].subjects, [])
})

test('Two images are compared, and each call has one charge and one row in the request log', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await addFace(client, 'anna')
  const files = {
    source_image: fakeImage('anna').bytes,
    target_image: fakeImage('ben', 'anna').bytes,
  }
  const { body } = await send(client, 'POST', '/api/v1/verification/verify', createForm(files))
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

test('Errors have the format, the status and the code of CompreFace', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const detect = '/api/v1/detection/detect'
  const post = async (target: string, body: object | string, as: GalleryClient = client) => {
    const response = await send(as, 'POST', target, body)
    assert.deepEqual(Object.keys(response.body), ['message', 'code'])
    return [response.status, response.body.code, response.body.message]
  }
  const noFace = 'No face is found in the given image'
  assert.deepEqual(await post(detect, fakeImageFile()), [400, 28, noFace])
  assert.equal((await post(`${recognition}/faces?subject=x`, fakeImageFile('a', 'b')))[1], 31)
  const two = { source_image: fakeImageFile('a', 'b').file, target_image: fakeImageFile('a').file }
  assert.equal((await post('/api/v1/verification/verify', two))[1], 31)
  const invalid = await post(
    `${detect}?limit=-1&det_prob_threshold=2&face_plugins=age,%22mask%22`,
    fakeImageFile('a'),
  )
  assert.deepEqual(invalid.slice(0, 2), [400, 26])
  assert.match(
    String(invalid[2]),
    /limit: .* received -1; .*det_prob_threshold: .* received 2; .*must be a list of plugin names/u,
  )
  assert.match(
    String((await post(`${recognition}/faces`, fakeImageFile('a')))[2]),
    /^query\.subject: /u,
  )
  assert.match(String((await post(detect, {}))[2]), /^body\.file: missing; must be an image/u)
  assert.equal((await post(detect, 'not a form'))[0], 415)
  const parts = new FormData()
  for (let index = 0; index < 20; index++) parts.set(`x${index}`, 'x')
  assert.deepEqual((await post(detect, parts)).slice(0, 2), [400, 26])
  const unknownKey = gallery.withKey(`${client.key.slice(0, -2)}zz`)
  assert.deepEqual((await post(detect, fakeImageFile('a'), unknownKey)).slice(0, 2), [401, 20])
  const missing = `${recognition}/faces/${crypto.randomUUID()}/verify`
  const noSuchFace = await post(missing, fakeImageFile('a'))
  assert.deepEqual(noSuchFace.slice(0, 2), [404, 11])
  assert.match(noSuchFace[2], /^path\.image_id: the gallery has no face with this image_id/u)
})

test('The CompreFace routes need the same permissions as the actions', async () => {
  const permissions = ['svc.identify', 'svc.deleteSubject']
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions })
  assert.equal((await addFace(client, 'anna')).status, 403)
  assert.equal((await send(client, 'GET', `${recognition}/subjects`)).status, 403)
  const deleteAll = await send(client, 'DELETE', `${recognition}/subjects`)
  assert.match(deleteAll.body.message, /lacks the permission groups:delete/u)
  const recognize = `${recognition}/recognize`
  assert.equal((await send(client, 'POST', recognize, fakeImageFile('a'))).status, 200)
  const withAge = await send(client, 'POST', `${recognize}?face_plugins=age`, fakeImageFile('a'))
  assert.match(withAge.body.message, /lacks the permission svc.analyze/u)
  const status = await send(client, 'POST', `${recognize}?status=true`, fakeImageFile('a'))
  assert.equal(status.status, 200, JSON.stringify(status.body))
  assert.deepEqual(status.body.plugins_versions, {}, 'the models need the permission debug')
})

test('The limits of size, budget and rate apply to the CompreFace routes', async () => {
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
  const tooLarge = await detect(createForm({ file: Buffer.alloc(4096) }))
  assert.deepEqual([tooLarge.status, tooLarge.body.code], [413, 26])
  const paid = await detect(fakeImageFile('a'))
  assert.equal(paid.status, 200)
  assert.ok(paid.headers.has('ratelimit-remaining'))
  const unpaid = await detect(fakeImageFile('a'))
  assert.equal(unpaid.status, 402)
  assert.match(unpaid.body.message, /PAYMENT_REQUIRED/u)
  const lists = Array.from({ length: 60 }, () => send(small, 'GET', `${recognition}/subjects`))
  const tooFast = (await Promise.all(lists)).find(({ status }) => status === 429)
  assert.ok(tooFast?.headers.has('retry-after'), '60 concurrent calls exceed the rate limit')
  assert.equal(tooFast?.body.code, 0)
})

test('Options after a second question mark, as the SDK writes them, are read', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const target = `${recognition}/faces?subject=anna?det_prob_threshold=2`
  const rejected = await send(client, 'POST', target, fakeImageFile('anna'))
  assert.match(rejected.body.message, /^query\.det_prob_threshold: /u)
})

test('The name of a subject without an externalId is its subjectId', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { subjectId } = await client.value('svc.enroll', imageParams('anna'))
  const { body } = await send(client, 'GET', `${recognition}/subjects`)
  assert.deepEqual(body.subjects, [subjectId])
  const second = { name: 'anna', deviation: 0.3, take: 1 }
  assert.equal((await addFace(client, subjectId, second)).status, 201)
  const deleted = await send(client, 'DELETE', `${recognition}/faces?subject=${subjectId}`)
  assert.deepEqual(deleted.body, { deleted: 2 })
})

test('Without COMPREFACE_API the routes do not exist', async () => {
  await using withoutRoutes = await startGallery()
  assert.equal((await withoutRoutes.rest('GET', `${recognition}/subjects`)).status, 404)
})

test('A route that deletes refuses unknown parameters and every body, and deletes nothing', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const names = ['p1', 'p2', 'p3', 'p4', 'p5']
  const ids: string[] = []
  for (const name of names) ids.push((await addFace(client, name)).body.image_id)
  const [faces, subjects] = [`${recognition}/faces`, `${recognition}/subjects`]
  const list = JSON.stringify([ids[0]])
  const refused: readonly (readonly [string, string, string?])[] = [
    ['DELETE', `${faces}?subjects=p1`],
    ['DELETE', `${faces}?Subject=p1`],
    ['DELETE', `${faces}?subject=p1&subjects=p2`],
    ['DELETE', `${faces}?subject=p1&subject=p2`],
    ['DELETE', `${faces}?subject=`],
    ['DELETE', faces, '{"subject":"p1"}'],
    ['DELETE', faces, '{}'],
    ['DELETE', `${faces}/${ids[0]}?subject=p2`],
    ['DELETE', `${faces}/${ids[0]}`, '{}'],
    ['DELETE', `${subjects}?subject=p1`],
    ['DELETE', subjects, '{"subject":"p1"}'],
    ['DELETE', `${subjects}/p1?image_id=${ids[0]}`],
    ['DELETE', `${subjects}/p1`, '{}'],
    ['POST', `${faces}/delete?subject=p1`, list],
  ]
  for (const [method, target, body] of refused) {
    const response = await fetch(`${client.url}${target}`, {
      method,
      headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    assert.equal(response.status, 400, `${method} ${target} ${body}: ${await response.text()}`)
  }
  const { body: remaining } = await send(client, 'GET', subjects)
  assert.deepEqual(remaining.subjects.sort(), names)
})
