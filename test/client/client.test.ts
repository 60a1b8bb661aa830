import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import sharp from 'sharp'
import { createClient as createWebClient, type ClientEvent } from '../../client/src/index.ts'
import { createClient, FacegateError } from '../../client/src/node.ts'
import { openDisconnectingProxy } from '../support/network/disconnecting-proxy.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { framesOf } from '../support/gallery/challenge-frames.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { cliOutput } from '../support/cli/run-cli.ts'

let facegate: FacegateProcess
/** A service with fake vision, which reads the persons of an image from its bytes. */
let gallery: TestGallery
before(async () => {
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
  gallery = await startGallery()
})
after(async () => {
  await facegate[Symbol.asyncDispose]()
  await gallery[Symbol.asyncDispose]()
})

/** Creates an image for the fake vision. */
const imageOf = (...people: readonly (FakePerson | string)[]) => ({
  bytes: fakeImage(...people).bytes,
  contentType: 'image/jpeg' as const,
})

async function createProjectClient() {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  return createClient({ baseUrl: gallery.url, apiKey: key })
}

test('A session is created, read and passed, and its reference frame is used once', async () => {
  const client = await createProjectClient()
  const created = await client.livenessSessions.create({ steps: 2 })
  const { sessionId, steps, angles } = created
  assert.equal(steps.length, 2)
  const [frontal, ...turned] = framesOf(steps, {}, angles).map((people) => imageOf(...people))
  assert.ok(frontal)
  const answer = await client.sendLivenessFrames(sessionId, [frontal, ...turned])
  assert.equal(answer.challenge?.passed, true)
  const passed = await client.livenessSessions.get(sessionId, { referenceFrame: 'true' })
  assert.deepEqual([passed.state, passed.referenceFrame?.contentType], ['passed', 'image/jpeg'])
  const params = { livenessSessionId: sessionId }
  assert.equal((await client.execute('svc.enroll', params)).results.length, 1)
  const again = await client.try.execute('svc.enroll', params)
  assert.equal(!again.ok && again.error.code, 'LIVENESS_FAILED')
  const { sessionId: other } = await client.livenessSessions.create()
  const empty = await client.try.sendLivenessFrames(other, [frontal, imageOf(), frontal, frontal])
  assert.ok(!empty.ok)
  assert.deepEqual([empty.error.code, empty.error.problems[0]?.imageIndex], ['NO_FACE_FOUND', 1])
})

test('Every form of an image has the same result', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-client-'))
  const options = { baseUrl: `${facegate.url}/`, apiKey: facegate.key }
  const node = createClient(options)
  const web = createWebClient(options)
  const photograph = sharp((await samplePhotograph(1)).bytes).resize(640)
  const jpeg = await photograph.jpeg().toBuffer()
  const file = path.join(folder, 'photo.jpg')
  await writeFile(file, jpeg)
  const { buffer, byteOffset, length } = jpeg
  const slice = new Uint8Array(buffer, byteOffset, length)
  const expected = await node.detect(file)
  assert.ok(expected.faceCount > 0)
  const forms = [
    jpeg,
    slice,
    slice.slice().buffer,
    new Blob([slice], { type: 'application/octet-stream' }),
    new File([slice], 'photo.png', { type: 'image/png' }),
    { bytes: slice },
    { bytes: jpeg.toString('base64') },
    { kind: 'image', bytes: jpeg.toString('base64'), contentType: 'image/jpg' },
  ] as const
  for (const form of forms) assert.deepEqual(await web.detect(form), expected)
  assert.deepEqual(await node.detect(pathToFileURL(file)), expected)
  const png = await photograph.png().toBuffer()
  assert.equal((await web.detect(png)).image.width, 640)
  await rm(folder, { recursive: true })
})

test('Real photographs over a connection that breaks for every fourth request are each charged once', async () => {
  const disconnectPoints = [
    'beforeResponse',
    'duringRequest',
    'duringResponse',
    'afterResponse',
  ] as const
  await using proxy = await openDisconnectingProxy(facegate.url, (request) =>
    request % 4 === 3
      ? disconnectPoints[Math.floor(request / 4) % disconnectPoints.length]
      : undefined,
  )
  const client = createClient({ baseUrl: proxy.url, apiKey: facegate.key, attemptsMax: 20 })
  const photograph = sharp((await samplePhotograph(1)).bytes).resize(160)
  const bytes = await photograph.jpeg().toBuffer()
  const requestIds = Array.from({ length: 30 }, () => randomUUID())
  const sentIds = new Set<string>(requestIds)
  const remaining = [...requestIds]
  const sendRemaining = async (): Promise<void> => {
    for (let requestId = remaining.pop(); requestId; requestId = remaining.pop())
      assert.equal((await client.detect(bytes, {}, { requestId })).image.width, 160)
  }
  await Promise.all([sendRemaining(), sendRemaining(), sendRemaining()])
  const calls = (await runCli('log', '--limit', '1000', '--json')).split('\n').filter(Boolean)
  const charged = calls
    .map((text) => JSON.parse(text) as { requestId: string; billed: boolean })
    .filter(({ requestId, billed }) => billed && sentIds.has(requestId))
  assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), requestIds.toSorted())
  assert.equal(JSON.parse(await runCli('ledger', 'verify', '--json')).ok, true)
})

test('A subject is enrolled, identified, verified, updated, listed and deleted', async () => {
  const client = await createProjectClient()
  const ada = await client.enroll(imageOf('Ada'), { externalId: 'badge-1', groups: ['staff'] })
  await client.enroll(imageOf('Ben'), { externalId: 'badge-2', groups: ['staff'] })
  const { subjectId } = ada

  const identified = await client.identify(imageOf({ name: 'Ada', deviation: 0.3 }))
  assert.equal(identified.bestMatch?.subjectId, subjectId)
  assert.equal((await client.verify(imageOf('Ada'), { subjectId })).matched, true)
  assert.equal((await client.verify(imageOf('Ada'), { externalId: 'badge-2' })).matched, false)
  assert.equal(
    (await client.verify(imageOf('Ada'), imageOf('Ada'), { threshold: 0.9 })).matched,
    true,
  )

  const updated = await client.updateSubject(subjectId, {
    displayName: 'Ada',
    image: imageOf({ name: 'Ada', deviation: 0.3 }),
  })
  assert.equal(updated.embeddingCount, 2)
  assert.equal((await client.subjects.get(subjectId, { include: 'faces' })).faces?.length, 2)
  const groups = await Array.fromAsync(client.groups.list({ limit: 1 }))
  assert.deepEqual(groups, [{ name: 'staff', subjectCount: 2 }])

  const { deletionId } = await client.deleteSubject(subjectId)
  await assert.rejects(client.deleteSubject(subjectId), { code: 'SUBJECT_NOT_FOUND', status: 200 })
  await assert.rejects(client.subjects.get(subjectId), { code: 'SUBJECT_NOT_FOUND', status: 404 })
  assert.equal((await client.groups.delete('staff', { dryRun: true })).deletedCount, 1)
  assert.equal((await client.groups.delete('staff')).records[0]?.externalId, 'badge-2')
  await assert.rejects(client.groups.delete('staff'), { code: 'GROUP_NOT_FOUND' })
  const records = await Array.fromAsync(client.deletions.list({ limit: 1 }))
  assert.deepEqual(
    records.map(({ externalId }) => externalId),
    ['badge-2', 'badge-1'],
  )
  assert.equal(records[1]?.deletionId, deletionId)
})

test('Each image of a batch has a separate result; the call fails only if all images fail', async () => {
  const client = await createProjectClient()
  await client.enroll(imageOf('Ada'), { externalId: 'badge-1' })
  const [first, second] = await client.identify([
    { ...imageOf('Ada'), correlationId: 'door' },
    imageOf(),
  ])
  assert.ok(first?.ok && second && !second.ok)
  assert.equal(first.correlationId, 'door')
  assert.equal(first.value.bestMatch?.externalId, 'badge-1')
  assert.equal(second.value.error.code, 'NO_FACE_FOUND')
  const failure = await client.identify([imageOf(), imageOf()]).catch((error: unknown) => error)
  assert.ok(failure instanceof FacegateError)
  assert.deepEqual(
    failure.problems.map(({ code }) => code),
    ['NO_FACE_FOUND', 'NO_FACE_FOUND'],
  )
})

test('An error contains a code, every problem with its path, and the request id', async () => {
  const client = await createProjectClient()
  const requestId = randomUUID()
  const params = { maxFaces: 0, minQuality: 101 }
  const outcome = await client.try.detect(imageOf('Ada'), params, { requestId })
  assert.ok(!outcome.ok)
  const { error } = outcome
  assert.deepEqual([error.code, error.requestId, error.status], ['INVALID_REQUEST', requestId, 200])
  assert.equal(error.problems.length, 2)
  assert.match(error.message, /params\.maxFaces.*params\.minQuality/u)
  const invalidKeyClient = createClient({ baseUrl: gallery.url, apiKey: 'fsk_live_x' })
  await assert.rejects(invalidKeyClient.detect(imageOf('Ada')), {
    code: 'UNAUTHORIZED',
    status: 401,
  })
  await assert.rejects(invalidKeyClient.groups.page(), { code: 'UNAUTHORIZED' })
  const wrongPathClient = createClient({
    baseUrl: `${gallery.url}/wrong-path`,
    apiKey: gallery.key,
  })
  await assert.rejects(wrongPathClient.subjects.get(randomUUID()), { code: 'HTTP_404' })
})

test('A repeated request id returns the same result, marked as a replay', async () => {
  const client = await createProjectClient()
  const options = { requestId: randomUUID() }
  const first = await client.try.enroll(imageOf('Ada'), {}, options)
  const second = await client.try.enroll(imageOf('Ada'), {}, options)
  assert.ok(first.ok && second.ok)
  assert.deepEqual(second, { ...first, isReplay: true })
  await assert.rejects(client.enroll(imageOf('Ben'), {}, options), { code: 'REQUEST_ID_CONFLICT' })
})

test('execute takes parameters and returns results in the form of the HTTP API', async () => {
  const client = await createProjectClient()
  const { bytes } = imageOf('Ada')
  const image = {
    kind: 'image',
    bytes: bytes.toString('base64'),
    contentType: 'image/jpeg',
  } as const
  const response = await client.execute('svc.identify', { images: [image] }, { debug: true })
  assert.equal(response.isReplay, false)
  const [item] = response.results
  assert.ok(item.ok)
  assert.equal(item.value.matched, false)
  assert.ok(item.value.debug)
})

test('validate returns the price of a call, or its error, and runs nothing', async () => {
  const client = await createProjectClient()
  const { bytes } = imageOf('Ada')
  const image = {
    kind: 'image',
    bytes: bytes.toString('base64'),
    contentType: 'image/jpeg',
  } as const
  const before = await client.me()
  const validation = await client.validate('svc.enroll', { images: [image] })
  assert.deepEqual(validation, { priceMicros: 2000n, billing: true })
  await assert.rejects(client.validate('svc.verify', { images: [image] }), {
    code: 'INVALID_REQUEST',
  })
  assert.deepEqual((await client.me()).budget, before.budget)
  assert.equal((await client.subjects.page()).items.length, 0)
})

test('A list fetches pages only while its items are read', async () => {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const operations: string[] = []
  const onEvent = ({ operation }: ClientEvent): void => void operations.push(operation)
  const client = createClient({ baseUrl: gallery.url, apiKey: key, onEvent })
  for (const name of ['A', 'B', 'C', 'D', 'E'])
    await client.enroll(imageOf(name), { externalId: name })
  operations.length = 0
  for await (const { externalId } of client.subjects.list({ limit: 2 }))
    if (externalId === 'C') break
  assert.deepEqual(operations, ['GET /v1/subjects', 'GET /v1/subjects'])
  const firstPage = await client.subjects.page({ limit: 4 })
  assert.equal(firstPage.items.length, 4)
  assert.ok(firstPage.nextCursor)
  const lastPage = await client.subjects.page({ limit: 4, cursor: firstPage.nextCursor })
  assert.deepEqual([lastPage.items.length, lastPage.nextCursor], [1, null])
})

test('createClient rejects an invalid option and names it', () => {
  const valid = { baseUrl: 'http://127.0.0.1', apiKey: 'k' }
  for (const [invalid, name] of [
    [{ baseUrl: 'faces.example.com' }, 'baseUrl'],
    [{ baseUrl: 'ftp://faces.example.com' }, 'baseUrl'],
    [{ baseUrl: 'http://me:pw@127.0.0.1' }, 'baseUrl'],
    [{ attemptsMax: 0 }, 'attemptsMax'],
    [{ attemptMsMax: Number.NaN }, 'attemptMsMax'],
    [{ callMsMax: -1 }, 'callMsMax'],
  ] as const)
    assert.throws(
      () => createClient({ ...valid, ...invalid }),
      new RegExp(`^TypeError: ${name}`, 'u'),
    )
})

/** Runs the command line on the data of the running service. */
function runCli(...args: readonly string[]): Promise<string> {
  return cliOutput(args, { DATA_DIR: facegate.dataDir })
}
