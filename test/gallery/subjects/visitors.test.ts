import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { matchChangedSince } from '../../../src/gallery/match.ts'
import type { Tx } from '../../../src/store/database.ts'
import { isDatabaseSearch } from '../../support/database/engine.ts'
import { runJson } from '../../support/cli/run-json.ts'
import {
  fakeCalibrations,
  fakeTemplate,
  takeOf as takeOfPerson,
} from '../../support/gallery/fake-vision.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import {
  createVisitorProject,
  identify,
  listVisitors,
  setUnknownPeople,
  takeOf,
  visit,
  type ListedVisitor,
} from '../../support/gallery/visitors.ts'

let nowMs = Date.parse('2030-03-01T08:00:00.000Z')
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ clock: () => nowMs })
})
after(() => gallery[Symbol.asyncDispose]())

test('A person that matches no subject gets one visitor id in all pictures, with a count', async () => {
  const client = await createVisitorProject(gallery)
  await client.value('svc.enroll', takeOf('Staff', 0))
  const visitorId = await visit(client, 'Zoe')
  const firstSeenAtUtc = new Date(nowMs).toISOString()
  nowMs += 60_000
  for (const take of [1, 2]) assert.equal(await visit(client, 'Zoe', take), visitorId)
  const other = await visit(client, 'Other')
  assert.notEqual(other, visitorId)
  assert.deepEqual(await identify(client, takeOf('Staff', 1)), [undefined], 'a match has none')

  const shown = await client.rest('GET', `/v1/visitors/${visitorId.toUpperCase()}`)
  assert.equal(shown.status, 200)
  const lastSeenAtUtc = new Date(nowMs).toISOString()
  const times = { firstSeenAtUtc, lastSeenAtUtc }
  assert.deepEqual(shown.body, {
    visitorId,
    visitCount: 3,
    ...times,
    embeddingCount: shown.body.embeddingCount,
    ignored: false,
  })
  const byCount = await listVisitors(client, '?sort=-visits')
  assert.deepEqual(
    byCount.map((one) => [one.visitorId, one.visitCount]),
    [
      [visitorId, 3],
      [other, 1],
    ],
  )
  const { body: first } = await client.rest('GET', '/v1/visitors?sort=-visits&limit=1')
  assert.equal(first.items[0].visitorId, visitorId)
  const second = await listVisitors(client, `?sort=-visits&limit=1&cursor=${first.nextCursor}`)
  assert.deepEqual(
    second.map((one) => one.visitorId),
    [other],
  )
  const wrongOrder = await client.rest('GET', `/v1/visitors?cursor=${first.nextCursor}`)
  assert.equal(wrongOrder.status, 400)

  const { body: subjects } = await client.rest('GET', '/v1/subjects?total=true')
  assert.deepEqual([subjects.items.length, subjects.total], [1, 1], 'visitors are no subjects')
  const { gallerySize } = await client.value('svc.identify', takeOf('Staff', 1))
  assert.equal(gallerySize, 1)
})

test('A visitor has at most five templates, and none of a picture like the former ones', async () => {
  const client = await createVisitorProject(gallery)
  const visitorId = await visit(client, 'Zoe')
  assert.equal(await visit(client, 'Zoe'), visitorId)
  const countOf = async () =>
    (await client.rest('GET', `/v1/visitors/${visitorId}`)).body.embeddingCount
  assert.equal(await countOf(), 1, 'the same picture again adds no template')
  for (let take = 1; take <= 12; take++) {
    const [again] = await identify(client, imageParams({ name: 'Zoe', deviation: 0.6, take }))
    assert.equal(again, visitorId)
  }
  assert.equal(await countOf(), 5)
})

test('Nothing is stored while the setting is off, for bad pictures, groups and failed or checked calls', async () => {
  const client = await createVisitorProject(gallery, 'off')
  assert.deepEqual(await identify(client, takeOf('Zoe', 0)), [undefined])
  await setUnknownPeople(gallery, client, '7')
  const poor = imageParams({ name: 'Zoe', deviation: 0.3, quality: 39 })
  assert.deepEqual(await identify(client, poor), [undefined])
  await client.value('svc.enroll', { ...takeOf('Staff', 0), groups: ['staff'] })
  const inGroup = { ...takeOf('Zoe', 0), groups: ['staff'] }
  assert.deepEqual(await identify(client, inGroup), [undefined])
  const spoof = imageParams({ name: 'Zoe', liveness: { score: 0.01 } })
  assert.equal(
    await client.code('svc.identify', { ...spoof, requireLiveness: true }),
    'LIVENESS_FAILED',
  )
  const { body } = await client.post({
    action: 'svc.identify',
    params: takeOf('Zoe', 0),
    validateOnly: true,
  })
  assert.equal(body.ok, true, JSON.stringify(body))
  assert.deepEqual(await listVisitors(client, '?ignored=all'), [])
  const good = imageParams({ name: 'Zoe', deviation: 0.3, quality: 40 })
  assert.equal(
    (await identify(client, good)).filter(Boolean).length,
    1,
    'the quality of enrollment',
  )
  await setUnknownPeople(gallery, client, 'off')
  assert.deepEqual(await identify(client, takeOf('Zoe', 1)), [undefined])
  assert.equal((await listVisitors(client)).length, 1, 'stored visitors end by the retention')
})

test('Two faces of a picture are two visitors, also if they resemble each other', async () => {
  const client = await createVisitorProject(gallery)
  const pair = imageParams(
    { name: 'Paul', deviation: 0.3, take: 0 },
    { name: 'Paul', deviation: 0.3, take: 1 },
    { name: 'Other', deviation: 0.3, take: 0 },
  )
  const ids = await identify(client, pair, { maxFaces: 3 })
  assert.equal(new Set(ids).size, 3)
  assert.deepEqual(new Set(await identify(client, pair, { maxFaces: 3 })), new Set(ids))
  assert.equal((await listVisitors(client)).length, 3)
})

test('The pictures of one call, and concurrent calls, give one id for one person', async () => {
  const client = await createVisitorProject(gallery)
  const requestId = randomUUID()
  const images = [0, 1].flatMap((take) => Object.values(takeOf('Zoe', take)).flat())
  const params = { images }
  const batch = await client.post({ action: 'svc.identify', requestId, params })
  const ids = batch.body.data.results.map(
    (result: { value: { faces: ListedVisitor[] } }) => result.value.faces[0]?.visitorId,
  )
  assert.equal(ids[0], ids[1])
  const replay = await client.post({ action: 'svc.identify', requestId, params })
  assert.equal(replay.body.meta.idempotencyReplay, true)
  assert.deepEqual(replay.body.data, batch.body.data)
  assert.equal((await listVisitors(client))[0]?.visitCount, 2, 'a replay is no visit')
  const parallel = await Promise.all(
    Array.from({ length: 8 }, (_, take) => visit(client, 'Newcomer', take)),
  )
  assert.equal(new Set(parallel).size, 1)
  assert.deepEqual(
    (await listVisitors(client, '?sort=-visits')).map((one) => one.visitCount),
    [8, 2],
  )
})

test('The first 20 faces of a call without a match get a visitor, and no further ones', async () => {
  const client = await createVisitorProject(gallery)
  const pictures = ['A', 'B', 'C'].map((picture) =>
    imageParams(...Array.from({ length: 8 }, (_, index) => takeOfPerson(`${picture}${index}`, 0))),
  )
  const images = pictures.flatMap((picture) => Object.values(picture).flat())
  const { body } = await client.call('svc.identify', { images, maxFaces: 20 })
  const counts = body.data.results.map(
    (result: { value: { faces: ListedVisitor[] } }) =>
      new Set(result.value.faces.flatMap(({ visitorId }) => visitorId ?? [])).size,
  )
  assert.deepEqual(counts, [8, 8, 4])
})

test('Faces that are compared with the changes since a search decrypt each changed subject once', async () => {
  const client = await createVisitorProject(gallery)
  for (const name of ['Zoe', 'Other']) await visit(client, name)
  let decryptedCount = 0
  const options = {
    nowUtc: new Date(nowMs).toISOString(),
    calibrations: fakeCalibrations({ active: 'people@1' }),
    decryptStored: async () => {
      decryptedCount += 1
      return fakeTemplate({ name: 'Zoe' }, 'people@1')
    },
  }
  const galleryId = `${client.project.projectId}:visitors`
  const faces = Array.from({ length: 20 }, () => [fakeTemplate({ name: 'Zoe' }, 'people@1')])
  const hits = await gallery.database.store.read((reading) =>
    matchChangedSince(reading, { galleryId, sequence: 0, faces }, options),
  )
  assert.deepEqual(
    hits.map((ofFace) => ofFace.length),
    faces.map(() => 2),
  )
  assert.equal(decryptedCount, 2)
})

test('A call reads the template of each visitor that it creates once for all further pictures', async () => {
  let readCount = 0
  const countReads = (tx: Tx): Tx => ({
    ...tx,
    run: async (query) => {
      const rows = await tx.run(query)
      readCount += rows.filter((row) => 'ciphertext' in Object(row)).length
      return rows
    },
  })
  let beforeSettle = async (): Promise<unknown> => undefined
  await using counted = await startGallery({
    beforeStep: async (step) => void (step === 'settle' && (await beforeSettle())),
    wrapStore: (store) => ({ ...store, write: (job) => store.write((tx) => job(countReads(tx))) }),
  })
  const client = await createVisitorProject(counted)
  const images = ['A', 'B', 'C', 'D'].flatMap((picture) =>
    Object.values(imageParams(`${picture}1`, `${picture}2`)).flat(),
  )
  const { body } = await client.call('svc.identify', { images, maxFaces: 2 })
  assert.equal(body.data.results.length, 4)
  assert.equal((await listVisitors(client, '')).length, 8)
  // With search in the database, the vector of each new template is computed from it.
  const vectorReads = isDatabaseSearch() ? 8 : 0
  assert.equal(readCount - vectorReads, 6, 'the visitors of the last picture are not read')
  const { subjectId: zoeId } = await client.value('svc.enroll', imageParams('Zoe'))
  beforeSettle = async () => {
    beforeSettle = async () => undefined
    await client.value('svc.updateSubject', { subjectId: zoeId, addGroups: ['staff'] })
    readCount = 0
  }
  await client.call('svc.identify', { images, maxFaces: 2 })
  assert.equal(readCount, 1, 'a subject that changed since the search is read once')
})

test('A full gallery of visitors, or a limit of one face, adds nothing and does not fail the call', async () => {
  await using small = await startGallery({
    environment: { GALLERY_TEMPLATES_MAX: '1', SUBJECT_TEMPLATES_MAX: '1' },
  })
  await runJson(small.dataDir, project, 'set default --unknown-people 30')
  const visitorId = await visit(small, 'Zoe')
  assert.deepEqual(await identify(small, takeOf('Other', 0)), [undefined])
  const differs = imageParams({ name: 'Zoe', deviation: 0.6, take: 4 })
  assert.deepEqual(await identify(small, differs), [visitorId])
  const [only, ...others] = await listVisitors(small)
  assert.deepEqual([only?.visitCount, only?.embeddingCount, others], [2, 1, []])
})
