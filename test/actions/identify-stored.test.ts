import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { identify } from '../../src/actions/identify.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { ActionError } from '../../src/lib/errors.ts'
import { findCalls } from '../support/find-calls.ts'
import { defaultSwitches } from '../../src/store/tenancy/switches.ts'
import { dropDatabase } from '../support/database/engine.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import type { GalleryClient, TestGallery } from '../support/gallery/test-gallery.ts'

let nowMs = Date.now()
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ clock: () => nowMs })
})
after(() => gallery[Symbol.asyncDispose]())

const createClient = () => gallery.createProjectClient({ galleryMode: 'isolated' })

/** Enrolls a picture under an external id, without the check for duplicates. */
function enroll(client: GalleryClient, externalId: string, person: FakePerson, params = {}) {
  const sent = { ...imageParams(person), externalId, duplicateCheck: 'off', ...params }
  return client.value('svc.enroll', sent)
}

/** A picture of Mia; any two have a similarity above 0.90. */
const mia = (take: number): FakePerson => ({ name: 'Mia', deviation: 0.4, take })

const idsOf = (candidates: readonly { readonly externalId: string }[]) =>
  candidates.map(({ externalId }) => externalId)

test('A subject is searched among all others without an image, for the price of one image', async () => {
  const client = await createClient()
  const { subjectId, faceId } = await enroll(client, 'case-1', mia(1))
  await enroll(client, 'case-2', mia(2))
  await enroll(client, 'case-3', { name: 'Rob' })
  const analyzed = gallery.vision.requests.length
  const value = await client.value('svc.identify', { subjectId })
  assert.equal(gallery.vision.requests.length, analyzed)
  assert.equal(value.bestMatch.externalId, 'case-2')
  assert.deepEqual(value.candidates, [value.bestMatch])
  assert.deepEqual(value.probe, { subjectId, faceIds: [faceId] })
  const { matched, faces, image, gallerySize, threshold, thresholdSource, calibration } = value
  assert.deepEqual(
    { matched, faces, image, gallerySize, threshold, thresholdSource, calibration },
    {
      matched: true,
      faces: [],
      image: undefined,
      gallerySize: 3,
      threshold: 0.8,
      thresholdSource: 'auto',
      calibration: 'model',
    },
  )
  const [row] = await findCalls(gallery.database.store.db, { action: 'svc.identify', limit: 1 })
  assert.deepEqual([row?.code, row?.costMicros], ['OK', 2000n])
})

test('A face finds the same similarities as its picture, by each id of the subject', async () => {
  const client = await createClient()
  const { subjectId, faceId } = await enroll(client, 'case-1', mia(1))
  await enroll(client, 'case-2', mia(2))
  const byImage = await client.value('svc.identify', imageParams(mia(1)))
  const [, expected] = byImage.faces[0].candidates
  assert.equal(expected.externalId, 'case-2')
  for (const probe of [
    { faceId },
    { faceId: faceId.toUpperCase() },
    { subjectId },
    { externalId: 'case-1' },
  ]) {
    const { bestMatch } = await client.value('svc.identify', probe)
    assert.deepEqual(bestMatch, expected, JSON.stringify(probe))
  }
})

test('The faces of a subject are merged into one probe; a face id selects one of them', async () => {
  const client = await createClient()
  const first = await enroll(client, 'case-1', mia(1))
  const second = await enroll(client, 'case-1', mia(2))
  await enroll(client, 'case-2', mia(3))
  const params = { externalId: 'case-1', threshold: 0 }
  const merged = await client.value('svc.identify', params)
  assert.deepEqual(new Set(merged.probe.faceIds), new Set([first.faceId, second.faceId]))
  const one = await client.value('svc.identify', { faceId: second.faceId, threshold: 0 })
  assert.deepEqual(one.probe, { subjectId: first.subjectId, faceIds: [second.faceId] })
  // The mean of two pictures is closer to a third one.
  assert.ok(merged.bestMatch.similarity > one.bestMatch.similarity)
})

test('Groups, threshold and the number of candidates limit a search for a stored face', async () => {
  const client = await createClient()
  await enroll(client, 'case-1', mia(1), { groups: ['new'] })
  await enroll(client, 'case-2', mia(2), { groups: ['old'] })
  await enroll(client, 'case-3', mia(3), { groups: ['old'] })
  await enroll(client, 'case-4', { name: 'Rob' }, { groups: ['older'] })
  const search = (params: object) =>
    client.value('svc.identify', { externalId: 'case-1', ...params })
  assert.deepEqual(idsOf((await search({})).candidates).toSorted(), ['case-2', 'case-3'])
  assert.equal((await search({ maxCandidates: 1 })).candidates.length, 1)
  assert.deepEqual((await search({ groups: ['new'] })).candidates, [])
  assert.deepEqual((await search({ groups: ['older'] })).bestMatch, null)
  const all = await search({ threshold: 0, groups: ['older', 'unknown'] })
  assert.deepEqual(idsOf(all.candidates), ['case-4'])
  assert.deepEqual(all.thresholdSource, 'request')
  assert.match(all.warnings[0], /unknown/u)
  const none = { externalId: 'case-1', groups: ['unknown'] }
  assert.equal(await client.code('svc.identify', none), 'GROUP_NOT_FOUND')
})

test('Debug reports the recognizer, its best score and the candidates below the threshold', async () => {
  const client = await createClient()
  await enroll(client, 'case-1', mia(1))
  await enroll(client, 'case-2', { name: 'Rob' })
  const params = { externalId: 'case-1' }
  const { debug, matched } = await client.value('svc.identify', params, { debug: true })
  assert.equal(matched, false)
  assert.deepEqual(debug.providers, { recognizer: 'people@1' })
  assert.deepEqual(Object.keys(debug.scores), ['recognizer'])
  assert.deepEqual(Object.keys(debug.timingsMs), ['database', 'search'])
  assert.deepEqual(idsOf(debug.candidatesBelowThreshold), ['case-2'])
})

test('A stored face that does not exist is reported with its path', async () => {
  const client = await createClient()
  const other = await createClient()
  const foreign = await enroll(other, 'case-1', mia(1))
  for (const [params, errorPath] of [
    [{ subjectId: randomUUID() }, 'params.subjectId'],
    [{ subjectId: foreign.subjectId }, 'params.subjectId'],
    [{ externalId: 'case-1' }, 'params.externalId'],
    [{ faceId: randomUUID() }, 'params.faceId'],
    [{ faceId: foreign.faceId }, 'params.faceId'],
  ] as const) {
    const { body } = await client.call('svc.identify', params)
    const [{ code, path: reported, hint }] = body.errors
    assert.deepEqual([code, reported], ['SUBJECT_NOT_FOUND', errorPath])
    assert.ok(hint)
  }
})

test('The projects of a shared gallery search for one another’s stored faces', async () => {
  const own = await gallery.createProjectClient({ galleryMode: 'shared' })
  const { accountId } = own.project
  const partner = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  const { faceId } = await enroll(own, 'case-1', mia(1))
  await enroll(partner, 'case-2', mia(2))
  const { bestMatch } = await partner.value('svc.identify', { faceId })
  assert.equal(bestMatch.externalId, 'case-2')
})

test('Parameters that contradict a stored face are refused', async () => {
  const client = await createClient()
  const { subjectId, faceId } = await enroll(client, 'case-1', mia(1))
  for (const [params, errorPath, remedy] of [
    [{}, 'params.images', 'subjectId, externalId or faceId'],
    [{ ...imageParams(mia(1)), subjectId }, 'params.subjectId', 'send one of'],
    [{ subjectId, faceId }, 'params.faceId', 'send one of'],
    [{ subjectId, externalId: 'case-1' }, 'params.externalId', 'send one of'],
    [{ faceId, maxFaces: 2 }, 'params.maxFaces', 'only to images'],
    [{ faceId, sameSubject: true }, 'params.sameSubject', 'only to images'],
    [{ faceId, requireLiveness: true }, 'params.requireLiveness', 'only to images'],
    [{ faceId, minQuality: 50 }, 'params.minQuality', 'only to images'],
    [{ faceId: 'face-1' }, 'params.faceId', 'must be'],
  ] as const) {
    const { body } = await client.call('svc.identify', params)
    const [{ code, path: reported, message }] = body.errors
    assert.deepEqual([code, reported], ['INVALID_REQUEST', errorPath])
    assert.ok(message.includes(remedy), message)
  }
  const withNull = { images: null, subjectId, faceId: null }
  assert.equal((await client.value('svc.identify', withNull)).probe.subjectId, subjectId)
})

test('Expired subjects are neither searched for nor found', async () => {
  const client = await createClient()
  const expiresAtUtc = new Date(nowMs + 60_000).toISOString()
  const guest = await enroll(client, 'guest', mia(1), { expiresAtUtc })
  const member = await enroll(client, 'member', mia(2))
  const before = await client.value('svc.identify', { faceId: member.faceId })
  assert.equal(before.bestMatch.externalId, 'guest')
  nowMs += 60_000
  const later = await client.value('svc.identify', { faceId: member.faceId })
  assert.deepEqual([later.bestMatch, later.gallerySize], [null, 1])
  for (const params of [
    { subjectId: guest.subjectId },
    { externalId: 'guest' },
    { faceId: guest.faceId },
  ])
    assert.equal(await client.code('svc.identify', params), 'SUBJECT_NOT_FOUND')
})

test('A search for a stored face does not count as activity of the subjects that it finds', async () => {
  const client = await createClient()
  await enroll(client, 'case-1', mia(1))
  await enroll(client, 'case-2', mia(2))
  const { db } = gallery.database.store
  const { projectId } = client.project
  const longAgo = '2020-01-01T00:00:00.000Z'
  await db.updateTable('subjects').set({ lastSeenAtUtc: longAgo }).execute()
  await client.value('svc.identify', { externalId: 'case-1' })
  const read = db.selectFrom('subjects').select('lastSeenAtUtc').where('projectId', '=', projectId)
  assert.deepEqual(
    (await read.execute()).map(({ lastSeenAtUtc }) => lastSeenAtUtc),
    [longAgo, longAgo],
  )
})

test('A stored response keeps its decision and loses its candidates when one of its subjects is deleted', async () => {
  const client = await createClient()
  await enroll(client, 'case-1', mia(1))
  const { subjectId } = await enroll(client, 'case-2', mia(2))
  const requestId = randomUUID()
  const search = () => client.value('svc.identify', { externalId: 'case-1' }, { requestId })
  assert.equal((await search()).candidates.length, 1)
  await client.value('svc.deleteSubject', { subjectId })
  const { matched, bestMatch, candidates, probe } = await search()
  assert.deepEqual([matched, bestMatch, candidates, probe.faceIds], [true, null, [], []])
})

test('A subject that is deleted during the search for it is not found', async () => {
  const client = await createClient()
  const { subjectId } = await enroll(client, 'case-1', mia(1))
  await enroll(client, 'case-2', mia(2))
  const { projectId, accountId } = client.project
  const switches = defaultSwitches
  const caller = { keyId: 'key', projectId, accountId, galleryId: projectId, switches }
  const result = await runAsAllAccounts(() =>
    identify.run({
      params: { subjectId },
      caller: { ...caller, permissions: ['*'] },
      services: { vision: gallery.vision, ...gallery.openedGallery },
      signal: new AbortController().signal,
      debug: false,
      requestId: randomUUID(),
    }),
  )
  if (!('effect' in result)) throw new Error('svc.identify has an effect')
  await client.value('svc.deleteSubject', { subjectId })
  const { store } = gallery.database
  await assert.rejects(
    store.write((tx) => Promise.resolve(result.effect(tx))),
    (error) => error instanceof ActionError && error.code === 'SUBJECT_NOT_FOUND',
  )
})

test('One template per face is decrypted, and one per model while a gallery has former models', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-stored-'))
  try {
    let key: string
    {
      await using earlier = await startGallery({ dataDir, models: { active: 'people@1' } })
      key = earlier.key
      await enroll(earlier, 'old-1', mia(1))
      await enroll(earlier, 'old-2', mia(2))
      const faces = await readStoredFaces(earlier, 'old-1')
      assert.deepEqual(modelsOf(faces), [['people@1']])
    }
    const models = { active: 'people@2', former: ['people@1'] }
    await using changed = await startGallery({ dataDir, key, models })
    const old = await changed.value('svc.identify', { externalId: 'old-1' })
    assert.deepEqual([old.bestMatch.externalId, old.notComparable], ['old-2', undefined])
    await enroll(changed, 'new-1', mia(3))
    await enroll(changed, 'new-2', mia(4))
    // These subjects have templates of the active model only, the others of the former one only.
    const found = await changed.value('svc.identify', { externalId: 'new-1' })
    assert.deepEqual([idsOf(found.candidates), found.notComparable], [['new-2'], 2])
    const faces = await readStoredFaces(changed, 'new-1')
    assert.deepEqual(modelsOf(faces), [['people@2']])
  } finally {
    await dropDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
})

const modelsOf = (
  faces: readonly { readonly templates: readonly { readonly modelId: string }[] }[],
) => faces.map(({ templates }) => templates.map(({ modelId }) => modelId))

async function readStoredFaces({ database, openedGallery }: TestGallery, externalId: string) {
  const projects = database.store.db.selectFrom('projects').select('projectId')
  const { projectId } = await projects.executeTakeFirstOrThrow()
  return runAsAllAccounts(async () => {
    const { subjects, matching } = openedGallery
    const subject = await database.store.read((reading) =>
      subjects.find(reading, projectId, { externalId }),
    )
    assert.ok(subject)
    return matching.readStoredFaces({ subject })
  })
}
