import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { createClient as createWebClient, type ClientEvent } from '../../client/src/index.ts'
import { createClient, FacegateError } from '../../client/src/node.ts'
import { openDisconnectingProxy } from '../support/network/disconnecting-proxy.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { cliMainFile } from '../support/paths.ts'

let facegate: FacegateProcess
/** The same service, but for its eyes, which read who is in a picture. */
let gallery: TestGallery
before(async () => {
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
  gallery = await startGallery()
})
after(async () => {
  await facegate[Symbol.asyncDispose]()
  await gallery[Symbol.asyncDispose]()
})

/** A picture that the eyes of the gallery's tests can read. */
const imageOf = (...people: readonly (FakePerson | string)[]) => ({
  bytes: fakeImage(...people).bytes,
  contentType: 'image/jpeg' as const,
})

async function createProjectClient() {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  return createClient({ baseUrl: gallery.url, apiKey: key })
}

test('a picture is the same in every form in which it may be given', async () => {
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

test('real pictures through a line that cuts every fourth: as many charges as answers', async () => {
  const moments = ['beforeResponse', 'duringRequest', 'duringResponse', 'afterResponse'] as const
  await using line = await openDisconnectingProxy(facegate.url, (request) =>
    request % 4 === 3 ? moments[Math.floor(request / 4) % moments.length] : undefined,
  )
  const client = createClient({ baseUrl: line.url, apiKey: facegate.key, attemptsMax: 20 })
  const photograph = sharp((await samplePhotograph(1)).bytes).resize(160)
  const bytes = await photograph.jpeg().toBuffer()
  const requestIds = Array.from({ length: 30 }, () => randomUUID())
  const mine = new Set<string>(requestIds)
  const left = [...requestIds]
  const work = async (): Promise<void> => {
    for (let requestId = left.pop(); requestId; requestId = left.pop())
      assert.equal((await client.detect(bytes, {}, { requestId })).image.width, 160)
  }
  await Promise.all([work(), work(), work()])
  const calls = (await runCli('log', '--limit', '1000', '--json')).split('\n').filter(Boolean)
  const charged = calls
    .map((text) => JSON.parse(text) as { requestId: string; billed: boolean })
    .filter(({ requestId, billed }) => billed && mine.has(requestId))
  assert.deepEqual(charged.map(({ requestId }) => requestId).toSorted(), requestIds.toSorted())
  assert.equal(JSON.parse(await runCli('ledger', 'verify', '--json')).ok, true)
})

test('what is no picture is refused before anything is sent', async () => {
  const events: ClientEvent[] = []
  const onEvent = (event: ClientEvent): void => void events.push(event)
  const client = createClient({ baseUrl: gallery.url, apiKey: gallery.key, onEvent })
  for (const bytes of [new Uint8Array(), Buffer.from('RIFF....WEBP'), new Blob(['GIF89a'])]) {
    await assert.rejects(client.detect(bytes), { code: 'UNSUPPORTED_IMAGE_TYPE' })
    const answer = await client.try.identify([bytes])
    assert.equal(!answer.ok && answer.error.code, 'UNSUPPORTED_IMAGE_TYPE')
  }
  await assert.rejects(client.detect(path.join(tmpdir(), randomUUID())), { code: 'ENOENT' })
  // @ts-expect-error a number is no picture
  await assert.rejects(client.detect(17), TypeError)
  assert.deepEqual(events, [])
})

test('a person is remembered, found, compared, changed, listed and forgotten', async () => {
  const client = await createProjectClient()
  const ada = await client.enroll(imageOf('Ada'), { externalId: 'badge-1', groups: ['staff'] })
  await client.enroll(imageOf('Ben'), { externalId: 'badge-2', groups: ['staff'] })
  const { subjectId } = ada

  const found = await client.identify(imageOf({ name: 'Ada', deviation: 0.3 }))
  assert.equal(found.bestMatch?.subjectId, subjectId)
  assert.equal((await client.verify(imageOf('Ada'), { subjectId })).matched, true)
  assert.equal((await client.verify(imageOf('Ada'), { externalId: 'badge-2' })).matched, false)
  assert.equal(
    (await client.verify(imageOf('Ada'), imageOf('Ada'), { threshold: 0.9 })).matched,
    true,
  )

  const changed = await client.updateSubject(subjectId, {
    displayName: 'Ada',
    image: imageOf({ name: 'Ada', deviation: 0.3 }),
  })
  assert.equal(changed.embeddingCount, 2)
  assert.equal((await client.subjects.get(subjectId, { include: 'faces' })).faces?.length, 2)
  assert.deepEqual(await client.groups.list(), [{ name: 'staff', subjectCount: 2 }])

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

test('each image of a batch has its own result; a batch fails only as a whole', async () => {
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

test('a failure has a code, every problem with its path, and the id of its call', async () => {
  const client = await createProjectClient()
  const requestId = randomUUID()
  const params = { maxFaces: 0, minQuality: 101 }
  const answer = await client.try.detect(imageOf('Ada'), params, { requestId })
  assert.ok(!answer.ok)
  const { error } = answer
  assert.deepEqual([error.code, error.requestId, error.status], ['INVALID_REQUEST', requestId, 200])
  assert.equal(error.problems.length, 2)
  assert.match(error.message, /params\.maxFaces.*params\.minQuality/u)
  const stranger = createClient({ baseUrl: gallery.url, apiKey: 'fsk_live_x' })
  await assert.rejects(stranger.detect(imageOf('Ada')), { code: 'UNAUTHORIZED', status: 401 })
  await assert.rejects(stranger.groups.list(), { code: 'UNAUTHORIZED' })
  const elsewhere = createClient({ baseUrl: `${gallery.url}/elsewhere`, apiKey: gallery.key })
  await assert.rejects(elsewhere.subjects.get(randomUUID()), { code: 'HTTP_404' })
})

test('the same id again is the same answer, and says so', async () => {
  const client = await createProjectClient()
  const options = { requestId: randomUUID() }
  const first = await client.try.enroll(imageOf('Ada'), {}, options)
  const second = await client.try.enroll(imageOf('Ada'), {}, options)
  assert.ok(first.ok && second.ok)
  assert.deepEqual(second, { ...first, isReplay: true })
  await assert.rejects(client.enroll(imageOf('Ben'), {}, options), { code: 'REQUEST_ID_CONFLICT' })
})

test('execute speaks the language of the wire', async () => {
  const client = await createProjectClient()
  const { bytes } = imageOf('Ada')
  const image = {
    kind: 'image',
    bytes: bytes.toString('base64'),
    contentType: 'image/jpeg',
  } as const
  const answer = await client.execute('svc.identify', { images: [image] }, { debug: true })
  assert.equal(answer.isReplay, false)
  const [item] = answer.results
  assert.ok(item.ok)
  assert.equal(item.value.matched, false)
  assert.ok(item.value.debug)
})

test('lists ask for a page when they need it and stop when nobody reads on', async () => {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const asked: string[] = []
  const onEvent = ({ operation }: ClientEvent): void => void asked.push(operation)
  const client = createClient({ baseUrl: gallery.url, apiKey: key, onEvent })
  for (const name of ['A', 'B', 'C', 'D', 'E'])
    await client.enroll(imageOf(name), { externalId: name })
  asked.length = 0
  for await (const { externalId } of client.subjects.list({ limit: 2 }))
    if (externalId === 'C') break
  assert.deepEqual(asked, ['GET /v1/subjects', 'GET /v1/subjects'])
  const page = await client.subjects.page({ limit: 4 })
  assert.equal(page.items.length, 4)
  assert.ok(page.nextCursor)
  const rest = await client.subjects.page({ limit: 4, cursor: page.nextCursor })
  assert.deepEqual([rest.items.length, rest.nextCursor], [1, null])
})

test('options that cannot work are refused by name when the client is made', () => {
  const good = { baseUrl: 'http://127.0.0.1', apiKey: 'k' }
  for (const [wrong, name] of [
    [{ baseUrl: 'faces.example.com' }, 'baseUrl'],
    [{ baseUrl: 'ftp://faces.example.com' }, 'baseUrl'],
    [{ baseUrl: 'http://me:pw@127.0.0.1' }, 'baseUrl'],
    [{ attemptsMax: 0 }, 'attemptsMax'],
    [{ attemptMsMax: Number.NaN }, 'attemptMsMax'],
    [{ callMsMax: -1 }, 'callMsMax'],
  ] as const)
    assert.throws(() => createClient({ ...good, ...wrong }), new RegExp(`^TypeError: ${name}`, 'u'))
})

/** The command line beside the running service. */
async function runCli(...args: readonly string[]): Promise<string> {
  const main = cliMainFile
  const env = { ...process.env, DATA_DIR: facegate.dataDir }
  return (await promisify(execFile)(process.execPath, [main, ...args], { env })).stdout
}
