import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { findCalls } from '../../support/find-calls.ts'
import { fakeImageFile, sendCompreFace } from '../../support/compreface/send.ts'
import {
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../../support/gallery/test-gallery.ts'
import {
  createVisitorProject,
  listVisitors,
  takeOf,
  visit,
} from '../../support/gallery/visitors.ts'
import type { VisitorProject } from '../../support/gallery/visitors.ts'

/** Runs before each settlement of a call, when its search has ended. */
let beforeSettle = async (): Promise<unknown> => undefined
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: { COMPREFACE_API: 'on' },
    beforeStep: async (step) => void (step === 'settle' && (await beforeSettle())),
  })
})
after(() => gallery[Symbol.asyncDispose]())

/** Changes the gallery between the search of a call and its settlement, also if the call runs again. */
async function during<Result>(
  change: () => Promise<unknown>,
  call: () => Promise<Result>,
  times = 1,
): Promise<Result> {
  let left = times
  const changeOnce = async () => {
    beforeSettle = async () => undefined
    await change()
    left -= 1
    if (left > 0) beforeSettle = changeOnce
  }
  beforeSettle = changeOnce
  const result = await call()
  assert.equal(left, 0, 'the gallery changed')
  return result
}

const createClient = () => gallery.createProjectClient({ galleryMode: 'isolated' })

function enroll(client: GalleryClient, externalId: string, person: string, take = 0) {
  const sent = { ...takeOf(person, take), externalId, duplicateCheck: 'off' }
  return client.value('svc.enroll', sent)
}

/** Moves the faces of a subject to another one, and deletes the first. */
async function merge(client: GalleryClient, from: string, to: string) {
  const path = `/api/v1/recognition/subjects/${from}`
  const { status, body } = await sendCompreFace(client, 'PUT', path, { subject: to })
  assert.equal(status, 200, JSON.stringify(body))
}

async function remove(client: GalleryClient, externalId: string) {
  const { body } = await client.rest('GET', `/v1/subjects?externalId=${externalId}`)
  await client.value('svc.deleteSubject', { subjectId: body.items[0].subjectId })
}

const search = (client: GalleryClient, params: object = {}) =>
  client.value('svc.identify', { ...takeOf('Zed', 3), ...params })

/** The outcome and the cost of the calls with a request id, from the request log. */
async function logged({ project: { projectId } }: VisitorProject, requestId: string) {
  const calls = await findCalls(gallery.database.store.db, { projectId, limit: 50 })
  return calls
    .filter((call) => call.requestId === requestId)
    .map(({ code, outcome, costMicros }) => [code, outcome, costMicros])
}

test('A person whose subject is merged during the search is found as the remaining subject', async () => {
  const client = await createVisitorProject(gallery)
  await enroll(client, 'zed-old', 'Zed')
  await enroll(client, 'yan', 'Yan')
  const requestId = randomUUID()
  const call = () => client.call('svc.identify', takeOf('Zed', 3), { requestId })
  const { body } = await during(() => merge(client, 'zed-old', 'yan'), call)
  const [{ value }] = body.data.results
  assert.equal(value.bestMatch?.externalId, 'yan')
  assert.deepEqual(value, await search(client), 'the result is that of the next search')
  assert.deepEqual((await call()).body.data.results[0].value, value)
  assert.deepEqual(await logged(client, requestId), [
    ['OK', null, 0n],
    ['OK', 'match', 2000n],
  ])
  assert.deepEqual(await listVisitors(client), [])
})

test('Subjects that are deleted during the search are replaced by the next candidates', async () => {
  const client = await createVisitorProject(gallery)
  for (const take of [4, 5, 6, 7]) await enroll(client, `zed-${take}`, 'Zed', take)
  const one = { maxCandidates: 1 }
  const before = await search(client, { maxCandidates: 4, threshold: 0 })
  const order = before.faces[0].candidates.map((candidate: Candidate) => candidate.externalId)
  const [first, second, third, last] = order
  // The search finds one candidate more than it returns.
  const removeBoth = async () => {
    await remove(client, first)
    await remove(client, second)
  }
  const value = await during(removeBoth, () => search(client, one))
  assert.equal(value.bestMatch?.externalId, third)
  assert.deepEqual(value, await search(client, one))
  await remove(client, last)
  const unknown = await during(
    () => remove(client, third),
    () => search(client),
  )
  assert.deepEqual([unknown.matched, unknown.gallerySize], [false, 0])
  const [{ visitorId }] = unknown.faces
  const [visitor] = await listVisitors(client)
  assert.ok(visitorId)
  assert.deepEqual([visitor?.visitorId, visitor?.visitCount], [visitorId, 1])
})

type Candidate = { readonly externalId: string }

test('A visitor that is promoted during the search is found as a subject', async () => {
  const client = await createVisitorProject(gallery)
  const visitorId = await visit(client, 'Zed')
  const promote = async () => {
    const path = `/v1/visitors/${visitorId}/promote`
    const { status } = await client.rest('POST', path, { externalId: 'zed' })
    assert.equal(status, 200)
  }
  const value = await during(promote, () => search(client))
  assert.equal(value.bestMatch?.externalId, 'zed')
  assert.deepEqual(await listVisitors(client), [])
})

test('A search for a stored face is repeated if a subject that it found has ended', async () => {
  const client = await createClient()
  await enroll(client, 'zed', 'Zed')
  const { faceId } = await enroll(client, 'zed', 'Zed', 1)
  await enroll(client, 'zed-old', 'Zed', 2)
  await enroll(client, 'yan', 'Yan')
  const searchStored = (probe: object) => client.value('svc.identify', probe)
  const probe = { externalId: 'zed' }
  const merged = await during(
    () => merge(client, 'zed-old', 'yan'),
    () => searchStored(probe),
  )
  assert.equal(merged.bestMatch?.externalId, 'yan')
  assert.deepEqual(merged, await searchStored(probe))
  const { subjectId } = await enroll(client, 'zed-new', 'Zed', 8)
  const move = () => client.value('svc.updateSubject', { subjectId, addFaceIds: [faceId] })
  const moved = await during(move, () => searchStored({ faceId }))
  assert.deepEqual([moved.probe.subjectId, moved.bestMatch?.externalId], [subjectId, 'zed'])
  assert.deepEqual(moved, await searchStored({ faceId }))
})

test('CompreFace finds and verifies a person whose subject is merged during the call', async () => {
  const client = await createClient()
  const { faceId } = await enroll(client, 'zed-old', 'Zed')
  await enroll(client, 'yan', 'Yan')
  await enroll(client, 'ben', 'Ben')
  const recognition = '/api/v1/recognition'
  const post = async (path: string) => {
    const image = fakeImageFile({ name: 'Zed', deviation: 0.3, take: 3 })
    const { status, body } = await sendCompreFace(client, 'POST', `${recognition}${path}`, image)
    assert.equal(status, 200, JSON.stringify(body))
    return body.result[0]
  }
  const recognize = () => post('/recognize')
  const found = await during(() => merge(client, 'zed-old', 'yan'), recognize)
  assert.equal(found.subjects[0]?.subject, 'yan')
  const verify = () => post(`/faces/${faceId}/verify`)
  const verified = await during(() => merge(client, 'yan', 'ben'), verify)
  assert.equal(verified.subject, 'ben')
  assert.deepEqual(verified, await verify())
})

test('A call whose subjects end during each of its searches is refused and can be repeated', async () => {
  const client = await createClient()
  const runsMax = 10
  for (let take = 0; take <= runsMax; take++) await enroll(client, `zed-${take}`, 'Zed', take + 4)
  const removeBest = async () => {
    const { bestMatch } = await search(client)
    await remove(client, bestMatch.externalId)
  }
  const requestId = randomUUID()
  const call = () => client.call('svc.identify', takeOf('Zed', 3), { requestId })
  const refused = await during(removeBest, call, runsMax)
  assert.equal(refused.status, 503)
  assert.match(refused.body.detail, /gallery changed/u)
  assert.equal(refused.headers.get('retry-after'), '1')
  const repeated = await call()
  assert.equal(repeated.body.data.results[0].value.matched, true)
  const codes = (await logged(client, requestId)).map(([code, , cost]) => [code, cost])
  assert.deepEqual(
    new Set(codes),
    new Set([
      ['OK', 2000n],
      ['HTTP_503', 0n],
    ]),
  )
})

test('A call beside the renaming of subjects with more than 200 templates searches again', async () => {
  const client = await createVisitorProject(gallery)
  const addMembers = (subjectCount: number, faceCount: number) =>
    Promise.all(
      Array.from({ length: subjectCount }, async () => {
        const pictures = Array.from({ length: faceCount }, (_, take) => takeOf(randomUUID(), take))
        const images = pictures.flatMap((picture) => Object.values(picture).flat())
        const options = { allImages: true, force: true, duplicateCheck: 'off' }
        const member = { images, groups: ['staff'], ...options }
        const { embeddingCount } = await client.value('svc.enroll', member)
        assert.equal(embeddingCount, faceCount)
      }),
    )
  let settleCount = 0
  const renameTwice = async () => {
    settleCount += 1
    if (settleCount > 1) return
    for (const [from, to] of [
      ['staff', 'all'],
      ['all', 'staff'],
    ]) {
      const { status } = await client.rest('POST', `/v1/groups/${from}/rename`, { name: to })
      assert.equal(status, 200)
    }
  }
  const visitDuring = async () => {
    settleCount = 0
    beforeSettle = renameTwice
    const analysisCount = gallery.vision.requests.length
    assert.ok(await visit(client, 'Zed'))
    assert.equal(gallery.vision.requests.length, analysisCount + 1, 'the image is analyzed once')
    beforeSettle = async () => undefined
    return settleCount
  }
  await addMembers(20, 10)
  assert.equal(await visitDuring(), 1)
  await addMembers(1, 1)
  assert.equal(await visitDuring(), 2)
  const [visitor] = await listVisitors(client)
  assert.equal(visitor?.visitCount, 2)
})
