import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { project } from '../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { countUnexpiredFaces, countedExpiredMax } from '../../src/store/gallery/expired-subjects.ts'
import { runJson } from '../support/cli/run-json.ts'
import { startConsole, type TestConsole } from '../support/console/test-console.ts'
import { identify, sendFeedback } from '../support/gallery/feedback.ts'
import { fillGroup } from '../support/gallery/fill-subjects.ts'
import { imageParams, type GalleryClient } from '../support/gallery/test-gallery.ts'

/** Short, so that the session of the console lasts for all tests. */
const lifetimeMs = 60_000

let nowMs = Date.now()
let testConsole: TestConsole
before(async () => {
  const environment = { COMPREFACE_API: 'on' }
  testConsole = await startConsole({ clock: () => nowMs, environment })
})
after(() => testConsole[Symbol.asyncDispose]())

const utcAfter = (ms: number): string => new Date(nowMs + ms).toISOString()

const sweep = (): Promise<number> =>
  runAsAllAccounts(() => testConsole.gallery.openedGallery.maintenance.sweep())

const externalIdOf = ({ externalId }: { readonly externalId: string }): string => externalId

const createProject = () => testConsole.gallery.createProjectClient({ galleryMode: 'isolated' })

/** Enrolls a person in a group, with the name as the external id. */
function enroll(client: GalleryClient, name: string, params: object = {}) {
  const ids = { externalId: name, groups: ['visitors'], duplicateCheck: 'off' }
  return client.value('svc.enroll', { ...imageParams(name), ...ids, ...params })
}

/** Lets a visitor expire in the default project, whose gallery the console shows. */
async function expireVisitor(name: string): Promise<{ readonly subjectId: string }> {
  const { gallery } = testConsole
  const enrolled = await enroll(gallery, name, { expiresAtUtc: utcAfter(lifetimeMs) })
  nowMs += lifetimeMs
  return enrolled
}

test('A subject matches until one millisecond before its expiry, and from that time on no call finds it', async () => {
  const client = await createProject()
  const { subjectId } = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  await enroll(client, 'Ben')
  const image = imageParams('Ann')
  nowMs += lifetimeMs - 1
  const before = await client.value('svc.identify', image)
  assert.deepEqual([before.bestMatch.subjectId, before.gallerySize], [subjectId, 2])
  assert.equal((await client.value('svc.verify', { ...image, subjectId })).matched, true)
  nowMs += 1
  const identified = await client.value('svc.identify', { ...image, groups: ['visitors'] })
  assert.deepEqual([identified.bestMatch, identified.gallerySize], [null, 1])
  for (const [action, params] of [
    ['svc.verify', { ...image, subjectId }],
    ['svc.verify', { ...image, externalId: 'Ann' }],
    ['svc.enroll', { ...image, subjectId }],
    ['svc.updateSubject', { subjectId, expiresAtUtc: null }],
    ['svc.deleteSubject', { subjectId }],
  ] as const)
    assert.equal(await client.code(action, params), 'SUBJECT_NOT_FOUND', action)
  const other = { ...image, duplicateCheck: 'reject' }
  const { duplicates } = await client.value('svc.enroll', other)
  assert.deepEqual(duplicates, [])
})

test('A match of an expired subject cannot be confirmed or denied', async () => {
  const client = await createProject()
  const { dataDir } = testConsole.gallery
  await runJson(dataDir, project, `set ${client.project.projectId} --feedback on`)
  const { subjectId } = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  const { requestId } = await identify(client, imageParams('Ann'))
  nowMs += lifetimeMs - 1
  const before = await sendFeedback(client, { requestId, verdict: 'deny' })
  assert.deepEqual([before.status, before.body.subjectId], [200, subjectId])
  nowMs += 1
  const { status, body } = await sendFeedback(client, { requestId, verdict: 'confirm' })
  assert.equal(status, 404)
  assert.match(body.detail, /has no match that can be confirmed or denied/u)
})

test('Lists, groups and CompreFace routes leave out expired subjects', async () => {
  const client = await createProject()
  const { subjectId } = await enroll(client, 'Ann', {
    groups: ['guests', 'visitors'],
    expiresAtUtc: utcAfter(lifetimeMs),
  })
  await enroll(client, 'Ben')
  nowMs += lifetimeMs
  const get = async (path: string) => (await client.rest('GET', path)).body
  for (const query of ['', '?group=visitors', '?q=n', '?limit=1'])
    assert.deepEqual((await get(`/v1/subjects${query}`)).items.map(externalIdOf), ['Ben'], query)
  assert.deepEqual((await get('/v1/subjects?externalId=Ann')).items, [])
  assert.deepEqual((await get('/v1/subjects?group=guests')).items, [])
  assert.equal((await client.rest('GET', `/v1/subjects/${subjectId}`)).status, 404)
  assert.deepEqual((await get('/v1/groups')).items, [{ name: 'visitors', subjectCount: 1 }])
  assert.equal((await client.rest('DELETE', '/v1/groups/guests')).status, 404)

  const recognition = '/api/v1/recognition'
  assert.deepEqual((await get(`${recognition}/subjects`)).subjects, ['Ben'])
  const faces = await get(`${recognition}/faces`)
  assert.deepEqual([faces.faces.length, faces.total_elements], [1, 1])
  assert.deepEqual((await get(`${recognition}/faces?subject=Ann`)).faces, [])
  assert.equal((await client.rest('DELETE', `${recognition}/subjects/Ann`)).status, 404)
})

test('The console neither shows nor changes an expired subject', async () => {
  const { owner, projectId } = testConsole
  const { subjectId } = await expireVisitor('Eve')
  const path = `/projects/${projectId}/subjects`
  const list = (await owner.get(path)).body.items
  assert.ok(list.every((item: { subjectId: string }) => item.subjectId !== subjectId))
  assert.equal((await owner.get(`${path}/${subjectId}`)).status, 404)
  const edited = await owner.send('PATCH', `${path}/${subjectId}`, { expiresAtUtc: null })
  assert.equal(edited.status, 404)
  const removed = await owner.send('DELETE', `${path}/${subjectId}`, {
    confirm: subjectId.slice(0, 8),
  })
  assert.equal(removed.status, 404)
  const groups = (await owner.get(`/projects/${projectId}/groups`)).body.items
  assert.ok(groups.every(({ name }: { name: string }) => name !== 'visitors'))
  assert.equal((await owner.get(`/projects/${projectId}/groups/visitors`)).status, 404)
})

test('The sweep deletes an expired subject with a normal deletion record', async () => {
  const client = await createProject()
  const { subjectId } = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  nowMs += lifetimeMs
  const path = `/v1/deletions?subjectId=${subjectId}`
  assert.deepEqual((await client.rest('GET', path)).body.items, [])
  assert.ok((await sweep()) >= 1)
  const [record, ...others] = (await client.rest('GET', path)).body.items
  assert.equal(others.length, 0)
  assert.deepEqual(
    [record.externalId, record.groups, record.embeddingCount, record.deletedAtUtc],
    ['Ann', ['visitors'], 1, utcAfter(0)],
  )
})

test('A sweep that ends with the service leaves its next batch to the next sweep', async () => {
  const client = await createProject()
  for (let index = 0; index < 21; index++)
    await enroll(client, `Guest ${index}`, { expiresAtUtc: utcAfter(lifetimeMs) })
  nowMs += lifetimeMs
  const { signal } = new AbortController()
  const { sweep: sweepUntil } = testConsole.gallery.openedGallery.maintenance
  const deletedCount = async () =>
    (await client.rest('GET', '/v1/deletions?limit=200')).body.items.length
  // Each run ends one check later, until it ends after the first batch of at most 20.
  for (let checks = 0; (await deletedCount()) === 0; checks++) {
    let left = checks
    signal.throwIfAborted = () => {
      if (left-- === 0) throw new Error('the service is closing')
    }
    const run = runAsAllAccounts(() => sweepUntil(signal))
    await assert.rejects(run, /the service is closing/u)
  }
  assert.ok((await deletedCount()) <= 20)
  await sweep()
  assert.equal(await deletedCount(), 21)
})

test('Deleting a group also deletes its expired subjects, with their records', async () => {
  const client = await createProject()
  await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  await enroll(client, 'Ben')
  nowMs += lifetimeMs
  const { body } = await client.rest('DELETE', '/v1/groups/visitors')
  assert.deepEqual(body.records.map(externalIdOf).toSorted(), ['Ann', 'Ben'])
  assert.equal((await client.rest('GET', '/v1/deletions')).body.items.length, 2)
})

test('The external id of an expired subject can be used again, which deletes the expired one', async () => {
  const client = await createProject()
  const first = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  nowMs += lifetimeMs
  const second = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  assert.deepEqual([second.created, second.embeddingCount], [true, 1])
  const ben = await enroll(client, 'Ben')
  nowMs += lifetimeMs
  const { subjectId } = ben
  const updated = await client.value('svc.updateSubject', { subjectId, externalId: 'Ann' })
  assert.equal(updated.externalId, 'Ann')
  const { items } = (await client.rest('GET', '/v1/deletions')).body
  assert.deepEqual(
    items.map((item: { subjectId: string }) => item.subjectId),
    [second.subjectId, first.subjectId],
  )
  assert.equal((await client.value('svc.identify', imageParams('Ann'))).gallerySize, 1)
})

test('Expired subjects take no place among the candidates of a search', async () => {
  const client = await createProject()
  const expiresAtUtc = utcAfter(lifetimeMs)
  const enrollTake = (take: number, deviation: number, params: object) =>
    enroll(client, `Ann ${take}`, {
      ...imageParams({ name: 'Ann', deviation, take }),
      ...params,
    })
  // More than a search in memory or in the database keeps at first.
  const nearest = Array.from({ length: 70 }, (_, take) => take)
  await Promise.all(nearest.map((take) => enrollTake(take, 0.1, { expiresAtUtc })))
  const lasting = Array.from({ length: 6 }, (_, index) => 100 + index)
  await Promise.all(lasting.map((take) => enrollTake(take, 0.6, {})))
  const params = { ...imageParams('Ann'), maxCandidates: 5 }
  const candidateNames = async (search: object): Promise<string[]> =>
    (await client.value('svc.identify', search)).faces[0].candidates.map(
      (candidate: { externalId: string }) => candidate.externalId,
    )
  const isNearest = (name: string) => nearest.includes(Number(name.slice(4)))
  assert.ok((await candidateNames(params)).every(isNearest))
  nowMs += lifetimeMs
  for (const search of [params, { ...params, groups: ['visitors'] }]) {
    const found = await candidateNames(search)
    assert.equal(found.length, 5)
    assert.ok(!found.some(isNearest))
  }
})

test('Many expired subjects do not count in the size of a gallery, and a limited number of their faces', async () => {
  const client = await createProject()
  await fillGroup(testConsole.gallery, client.project, countedExpiredMax + 2)
  const expired = { expiresAtUtc: utcAfter(0) }
  const { db, read } = testConsole.gallery.database.store
  const { projectId } = client.project
  await db.updateTable('subjects').set(expired).where('projectId', '=', projectId).execute()
  const filter = { galleryId: projectId, nowUtc: utcAfter(0) }
  assert.equal(await runAsAllAccounts(() => read((tx) => countUnexpiredFaces(tx, filter))), 2)
  assert.equal((await client.rest('GET', '/v1/subjects?total=true')).body.total, 0)
})

test('A changed expiry applies to the next search', async () => {
  const client = await createProject()
  const { subjectId } = await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  const isFound = async (): Promise<boolean> =>
    (await client.value('svc.identify', imageParams('Ann'))).matched
  await client.value('svc.updateSubject', { subjectId, expiresAtUtc: utcAfter(3 * lifetimeMs) })
  nowMs += 2 * lifetimeMs
  assert.equal(await isFound(), true)
  await client.value('svc.updateSubject', { subjectId, expiresAtUtc: null })
  nowMs += 2 * lifetimeMs
  assert.equal(await isFound(), true)
  await client.value('svc.enroll', {
    ...imageParams({ name: 'Ann', deviation: 0.2 }),
    subjectId,
    expiresAtUtc: utcAfter(1000),
  })
  assert.equal(await isFound(), true)
  nowMs += 1000
  assert.equal(await isFound(), false)
})

test('An expiry must be in the future; no image is analyzed for another one', async () => {
  const client = await createProject()
  const { gallery, owner, projectId } = testConsole
  const { subjectId } = await enroll(client, 'Ann')
  const analyses = gallery.vision.requests.length
  for (const expiresAtUtc of [utcAfter(-1), utcAfter(0), '2020-01-01T00:00:00Z']) {
    const images = imageParams('Ben')
    for (const [action, params] of [
      ['svc.enroll', { ...images, expiresAtUtc }],
      ['svc.enroll', { ...images, subjectId, expiresAtUtc }],
      ['svc.updateSubject', { ...images, subjectId, expiresAtUtc }],
    ] as const) {
      const { body } = await client.call(action, params)
      assert.equal(body.errors[0]?.code, 'INVALID_REQUEST')
      assert.match(
        body.errors[0].message,
        /params\.expiresAtUtc: must be after .*Z, the current time/u,
      )
    }
  }
  assert.equal(gallery.vision.requests.length, analyses)
  const nextMs = { subjectId, expiresAtUtc: utcAfter(1) }
  assert.equal((await client.value('svc.updateSubject', nextMs)).expiresAtUtc, utcAfter(1))

  const shown = await enroll(gallery, 'Shown in the console')
  const path = `/projects/${projectId}/subjects/${shown.subjectId}`
  const past = await owner.send('PATCH', path, { expiresAtUtc: utcAfter(0) })
  assert.equal(past.status, 422)
  assert.match(past.text, /body\.expiresAtUtc/u)
})

test('Templates of expired subjects do not count against the limit of the gallery', async () => {
  await using limited = await startConsole({
    clock: () => nowMs,
    environment: { GALLERY_TEMPLATES_MAX: '1' },
  })
  const client = limited.gallery
  await enroll(client, 'Ann', { expiresAtUtc: utcAfter(lifetimeMs) })
  assert.equal(await client.code('svc.enroll', imageParams('Ben')), 'GALLERY_FULL')
  nowMs += lifetimeMs
  assert.equal((await enroll(client, 'Ben')).created, true)
  assert.equal(await client.code('svc.enroll', imageParams('Cid')), 'GALLERY_FULL')
})
