import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { assertOk, createConsoleClient, validPassword } from '../support/console/test-console.ts'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { enrollPerson, identify, pictureOf, sendFeedback } from '../support/gallery/feedback.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { killGalleryProcess, startGalleryProcess } from '../support/gallery/gallery-process.ts'

const rounds = Number(process.env['GALLERY_CRASH_ROUNDS'] ?? 3)
const inFlightCalls = 200

const movedFaces = 40

test('A face that moves during kill -9 belongs to one of the two subjects, and a retry moves it', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  const first = await startGalleryProcess(dataDir)
  const { key } = first
  const pairs = await Promise.all(
    Array.from({ length: movedFaces }, async (_, index) => {
      const enroll = (name: string, fields: object = {}) =>
        first.client.value('svc.enroll', { ...imageParams(`${name} ${index}`), ...fields })
      const { subjectId: from } = await enroll('From')
      const { faceId } = await enroll('Moved', { subjectId: from, force: true })
      const { subjectId } = await enroll('To')
      const params = { subjectId, addFaceIds: [faceId], force: true }
      const call = { action: 'svc.updateSubject', requestId: randomUUID(), params }
      return { from, faceId, call }
    }),
  )
  let isFirst = true
  const sending = pairs.map(async ({ call }) => {
    await first.client.post(call)
    if (isFirst) void killGalleryProcess(first)
    isFirst = false
  })
  await Promise.allSettled(sending)
  await killGalleryProcess(first)
  const server = await startGalleryProcess(dataDir, key)
  for (const [index, { from, faceId, call }] of pairs.entries()) {
    const ownersNow = async () => {
      const owners: string[] = []
      for (const subjectId of [from, call.params.subjectId]) {
        const params = { ...imageParams(`Moved ${index}`), subjectId }
        const verified = await server.client.value('svc.verify', params)
        if (verified.faceId === faceId) owners.push(subjectId)
      }
      return owners
    }
    assert.equal((await ownersNow()).length, 1)
    const { body } = await server.client.post(call)
    assert.deepEqual(body.errors, [])
    assert.equal(body.data.results[0].value.embeddingCount, 2)
    assert.deepEqual(await ownersNow(), [call.params.subjectId])
  }
  await killGalleryProcess(server)
  await rm(dataDir, { recursive: true, force: true })
})

const deniedCalls = 40

test('A call with feedback and its match are stored together during kill -9, and a denial is complete or absent', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  const first = await startGalleryProcess(dataDir)
  const { key } = first
  const store = await openStore(dataDir)
  await store.db.updateTable('projects').set({ feedback: 1 }).execute()
  await store.close()
  const subjectId = await enrollPerson(first.client, 'Ann')
  const calls = Array.from({ length: deniedCalls }, (_, index) => ({
    requestId: randomUUID(),
    // The denials do not concern the calls of the second half.
    picture: index < deniedCalls / 2 ? pictureOf(`Guest ${index}`, 0) : pictureOf('Ann', index),
  }))
  for (const { requestId, picture } of calls.slice(0, deniedCalls / 2))
    await identify(first.client, picture, requestId)
  const sent = calls.map(async ({ requestId, picture }, index) => {
    if (index >= deniedCalls / 2) await identify(first.client, picture, requestId)
    else await sendFeedback(first.client, { requestId, verdict: 'deny' })
    void killGalleryProcess(first)
  })
  await Promise.allSettled(sent)
  await killGalleryProcess(first)
  const after = await openStore(dataDir)
  const attempts = await after.db.selectFrom('attempts').selectAll().execute()
  const settled = attempts.filter(
    ({ action, state }) => action === 'svc.identify' && state === 'done',
  )
  const matches = await after.db.selectFrom('matchVerdicts').selectAll().execute()
  const { hasDenials } = await after.db.selectFrom('subjects').selectAll().executeTakeFirstOrThrow()
  await after.close()
  const idsOf = (rows: readonly { readonly requestId: string }[]) =>
    rows.map(({ requestId }) => requestId).toSorted()
  assert.deepEqual(idsOf(matches), idsOf(settled), 'each settled call has its match')
  const denied = matches.filter(({ verdict }) => verdict === 'denied')
  assert.equal(hasDenials, denied.length > 0 ? 1 : 0)
  const server = await startGalleryProcess(dataDir, key)
  for (const { requestId } of denied) {
    const picture = calls.find((call) => call.requestId === requestId)?.picture ?? {}
    const params = { ...picture, subjectId, threshold: 0.3 }
    assert.equal((await server.client.value('svc.verify', params)).matched, false)
    const { status } = await sendFeedback(server.client, { requestId, verdict: 'deny' })
    assert.equal(status, 200)
  }
  await killGalleryProcess(server)
  await rm(dataDir, { recursive: true, force: true })
})

const missedCalls = 40

test('A near miss and its picture are stored together during kill -9', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  const first = await startGalleryProcess(dataDir)
  const store = await openStore(dataDir)
  await store.db.updateTable('projects').set({ nearMissCrops: 1 }).execute()
  await store.close()
  await enrollPerson(first.client, 'Ann')
  const picture = imageParams({ name: 'Ann', deviation: 1.6 })
  const { value } = await identify(first.client, picture)
  const params = { ...picture, threshold: value.bestMatch.similarity + 0.03 }
  const sent = Array.from({ length: missedCalls }, async () => {
    await identify(first.client, params)
    void killGalleryProcess(first)
  })
  await Promise.allSettled(sent)
  await killGalleryProcess(first)
  const after = await openStore(dataDir)
  const logged = await after.db.selectFrom('calls').selectAll().where('nearMiss', '=', 1).execute()
  const stored = await after.db.selectFrom('nearMissCrops').select('requestId').execute()
  await after.close()
  const idsOf = (rows: readonly { readonly requestId: string }[]) =>
    rows.map(({ requestId }) => requestId).toSorted()
  assert.ok(stored.length > 0)
  assert.deepEqual(idsOf(stored), idsOf(logged))
  await rm(dataDir, { recursive: true, force: true })
})

const matchedCalls = 40

test('A call that matches a person and its count are stored together during kill -9', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  const first = await startGalleryProcess(dataDir)
  const store = await openStore(dataDir)
  await store.db.updateTable('projects').set({ matchDays: 1 }).execute()
  await store.close()
  const subjectId = await enrollPerson(first.client, 'Ann')
  const sent = Array.from({ length: matchedCalls }, async (_, index) => {
    if (index % 2 === 0) await identify(first.client, pictureOf('Ann', index))
    else await first.client.value('svc.verify', { ...pictureOf('Ann', index), subjectId })
    void killGalleryProcess(first)
  })
  await Promise.allSettled(sent)
  await killGalleryProcess(first)
  const after = await openStore(dataDir)
  const { matched } = await after.db
    .selectFrom('calls')
    .select((row) => row.fn.countAll<number>().as('matched'))
    .where('outcome', '=', 'match')
    .executeTakeFirstOrThrow()
  const counted = await after.db.selectFrom('matchDays').selectAll().execute()
  await after.close()
  assert.ok(matched > 0)
  assert.equal(
    counted.reduce((sum, { matches }) => sum + matches, 0),
    matched,
  )
  await rm(dataDir, { recursive: true, force: true })
})

const undoneMerges = 20

test('A merge that is undone during kill -9 is undone completely or not at all', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  const first = await startGalleryProcess(dataDir)
  const store = await openStore(dataDir)
  const token = await store.write((tx) => createSetupLink(tx, null, Date.now()))
  await store.close()
  const owner = createConsoleClient(first.client.url)
  assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
  const projectPath = `/projects/${assertOk(await owner.get('/projects')).body.items[0].projectId}`
  const merges: { readonly target: string; readonly undo: string }[] = []
  for (let index = 0; index < undoneMerges; index++) {
    const enroll = async (take: number): Promise<string> => {
      const person = imageParams({ name: `Merged ${index}`, deviation: 0.3, take })
      const fields = { duplicateCheck: 'off', externalId: `${index}-${take}` }
      return (await first.client.value('svc.enroll', { ...person, ...fields })).subjectId
    }
    const [target, source] = [await enroll(0), await enroll(1)]
    const body = { sourceSubjectId: source, confirm: source.slice(0, 8) }
    const merge = await owner.send('POST', `${projectPath}/subjects/${target}/merge`, body)
    merges.push({ target, undo: `${projectPath}/merges/${assertOk(merge).body.mergeId}/undo` })
  }
  let isFirst = true
  const undoing = merges.map(async ({ undo }) => {
    await owner.send('POST', undo)
    if (isFirst) void killGalleryProcess(first)
    isFirst = false
  })
  await Promise.allSettled(undoing)
  await killGalleryProcess(first)
  const server = await startGalleryProcess(dataDir, first.key)
  const again = createConsoleClient(server.client.url)
  assertOk(await again.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  const facesOf = async (subjectId: string): Promise<number> =>
    (await server.client.rest('GET', `/v1/subjects/${subjectId}`)).body.embeddingCount
  for (const [index, { target, undo }] of merges.entries()) {
    const facesBefore = await facesOf(target)
    const { status } = await again.send('POST', undo)
    assert.equal(status, facesBefore === 2 ? 200 : 404, 'a merge is there if it was not undone')
    assert.equal(await facesOf(target), 1)
    const probe = imageParams({ name: `Merged ${index}`, deviation: 0.3, take: 1 })
    const { bestMatch } = await server.client.value('svc.identify', probe)
    assert.deepEqual([bestMatch.externalId, bestMatch.similarity], [`${index}-1`, 1])
  }
  await killGalleryProcess(server)
  await rm(dataDir, { recursive: true, force: true })
})

const enrollment = (round: number, index: number) => ({
  action: 'svc.enroll',
  requestId: randomUUID(),
  params: {
    ...imageParams(`Round ${round}, person ${index}`),
    externalId: `${round}-${index}`,
    onExisting: 'reject',
    duplicateCheck: 'off',
  },
})

test(`Acknowledged enrollments survive kill -9 during ${inFlightCalls} calls (${rounds} rounds)`, async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  let server = await startGalleryProcess(dataDir)
  const { key } = server
  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: inFlightCalls }, (_, index) => enrollment(round, index))
    const acknowledged = new Map<string, string>()
    const sending = calls.map(async (call) => {
      const { body } = await server.client.post(call)
      assert.deepEqual(body.errors, [])
      acknowledged.set(call.requestId, body.data.results[0].value.subjectId)
    })
    const settled = Promise.allSettled(sending)
    await sleep(40 + Math.random() * 400)
    await killGalleryProcess(server)
    await settled
    server = await startGalleryProcess(dataDir, key)
    const { client } = server
    // A retry returns the first response or runs once; no data is duplicated or incomplete.
    for (const [index, call] of calls.entries()) {
      const { body } = await client.post(call)
      assert.deepEqual(body.errors, [])
      const { subjectId, embeddingCount } = body.data.results[0].value
      assert.equal(acknowledged.get(call.requestId) ?? subjectId, subjectId)
      assert.equal(embeddingCount, 1)
      if (index % 10 !== 0) continue
      const found = await client.value(
        'svc.identify',
        imageParams(`Round ${round}, person ${index}`),
      )
      assert.equal(found.bestMatch?.subjectId, subjectId)
    }
    const { body } = await client.rest('GET', '/v1/subjects?limit=1')
    assert.equal(body.items[0].embeddingCount, 1)
    const unknown = await client.value('svc.identify', imageParams('Unknown'))
    assert.equal(unknown.gallerySize, (round + 1) * inFlightCalls)
  }
  await killGalleryProcess(server)
  const store = await openStore(dataDir)
  const failed = (await auditLedger(store.db, Date.now())).filter(({ ok }) => !ok)
  await store.close()
  assert.deepEqual(failed, [])
  await rm(dataDir, { recursive: true, force: true })
})
