import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { subjectCommands } from '../../../src/cli/subject/commands.ts'
import { hourMs } from '../../../src/lib/clock.ts'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { enrollPerson, sendFeedback } from '../../support/gallery/feedback.ts'
import {
  type NearMissService,
  cropOf,
  imageOf,
  miss,
  missing,
  pictureOf,
  startNearMisses,
  takeOf,
} from '../../support/console/near-misses.ts'

let service: NearMissService
before(async () => {
  service = await startNearMisses()
})
after(() => service[Symbol.asyncDispose]())

test('A project keeps no picture of a near miss before it is switched on', async () => {
  const client = await service.createClient()
  await enrollPerson(client, 'Ann')
  const before = service.testConsole.gallery.vision.requests.length
  const requestId = await miss(client, 'svc.identify', await missing(client, pictureOf('Ann', 1)))
  const requests = service.testConsole.gallery.vision.requests.slice(before)
  assert.ok(requests.length > 0 && requests.every(({ contextCrops }) => contextCrops !== true))
  assert.equal((await service.callOf(requestId)).nearMiss, true)
  assert.deepEqual(
    [await service.rowsOf(client), await service.offered(requestId)],
    [[], undefined],
  )
  assert.equal(await service.show(requestId), 404)
})

test('A near miss of identify and of verify is kept, and each display is in the audit log', async () => {
  const client = await service.createClient('72')
  const subjectId = await enrollPerson(client, 'Ann', { externalId: 'ann' })
  await enrollPerson(client, 'Bea')
  const picture = pictureOf('Ann', 1)
  const identified = await miss(client, 'svc.identify', await missing(client, picture))
  const verified = await miss(client, 'svc.verify', await missing(client, picture, { subjectId }))
  const expiresAtUtc = new Date(service.state.nowMs + 72 * hourMs).toISOString()
  const before = (await service.displays()).length
  for (const requestId of [identified, verified]) {
    assert.equal(await service.offered(requestId), expiresAtUtc)
    assert.equal(await service.show(requestId), cropOf('Ann', 1))
  }
  const [last, first, ...others] = await service.displays()
  assert.deepEqual([others.length, first.target, last.target], [before, identified, verified])
  const { projectId } = client.project
  const { callId } = await service.callOf(verified)
  assert.deepEqual([last.userName, last.detail], ['Olga', { callId, projectId }])
  const viewer = await service.testConsole.inviteMember('viewer')
  assert.equal(await service.show(verified, viewer), 403)
  const rows = await service.rowsOf(client)
  assert.deepEqual(
    rows.map((row) => [row.subjectId, row.requestId]),
    [identified, verified].toSorted().map((requestId) => [subjectId, requestId]),
  )
  const jpeg = Buffer.from(cropOf('Ann', 1))
  assert.ok(rows.every(({ ciphertext }) => !Buffer.from(ciphertext).includes(jpeg)))
})

test('Matches, distant misses and calls without a subject keep nothing, and a picture of several faces keeps the nearest one', async () => {
  const client = await service.createClient('24')
  await enrollPerson(client, 'Ann')
  const { threshold, images } = await missing(client, pictureOf('Ann', 1))
  const matched = await client.value('svc.identify', { images, threshold: threshold - 0.03 })
  assert.equal(matched.matched, true)
  await miss(client, 'svc.identify', { images, threshold: threshold + 0.021 })
  const both = ['Ann', 'Bea'].map((name) => imageOf(takeOf(name, 1)))
  const { similarity } = await client.value('svc.verify', { images: both, threshold: 0 })
  await miss(client, 'svc.verify', { images: both, threshold: similarity + 0.03 })
  assert.deepEqual(await service.rowsOf(client), [])
  const people = { images: [imageOf({ name: 'Unknown', side: 300 }, takeOf('Ann', 1))] }
  const requestId = await miss(client, 'svc.identify', {
    ...people,
    threshold,
    maxFaces: 2,
    facePolicy: 'largest',
  })
  assert.equal(await service.show(requestId), cropOf('Ann', 1))
  assert.equal((await service.rowsOf(client)).length, 1)
})

test('A near miss by the lowered similarity of a denied face is kept', async () => {
  const client = await service.createClient('72')
  const { dataDir } = service.testConsole.gallery
  await runJson(dataDir, project, `set ${client.project.projectId} --feedback on`)
  await enrollPerson(client, 'Ann')
  const picture = pictureOf('Ann', 1)
  const requestId = randomUUID()
  const { bestMatch } = await client.value(
    'svc.identify',
    { ...picture, threshold: 0 },
    { requestId },
  )
  assert.equal((await sendFeedback(client, { requestId, verdict: 'deny' })).status, 200)
  const threshold = bestMatch.similarity / 2 + 0.03
  const missed = await miss(client, 'svc.identify', { ...picture, threshold })
  assert.equal((await service.callOf(missed)).nearMiss, true)
  assert.equal(await service.show(missed), cropOf('Ann', 1))
})

test('A request id that is used again after the replay window has the picture of each call', async () => {
  const client = await service.createClient('72')
  await enrollPerson(client, 'Ann')
  const requestId = randomUUID()
  const takes = [1, 2]
  for (const take of takes) {
    const params = await missing(client, pictureOf('Ann', take))
    await client.value('svc.identify', params, { requestId: requestId.toUpperCase() })
    await service.pass(hourMs + 1)
  }
  const { body } = await service.testConsole.owner.get(`/log?requestId=${requestId.toUpperCase()}`)
  const shown = await Promise.all(
    body.items.map(async ({ callId }: { callId: number }) => {
      const looked = assertOk(
        await service.testConsole.owner.send('POST', `/log/${callId}/picture`),
      )
      return Buffer.from(looked.body.jpeg, 'base64').toString()
    }),
  )
  assert.deepEqual(
    shown,
    takes.toReversed().map((take) => cropOf('Ann', take)),
  )
})

test('The export of a subject lists its near misses without the pictures, which can show another person', async () => {
  const client = await service.createClient('72')
  await enrollPerson(client, 'Ann', { externalId: 'ann' })
  const requestId = await miss(client, 'svc.identify', await missing(client, pictureOf('Ann', 1)))
  const out = path.join(tmpdir(), `facegate-${randomUUID()}.json`)
  const { runForJson } = createLineRunner(
    [subjectCommands],
    () => service.testConsole.gallery.dataDir,
  )
  await runForJson(`subject export ann --project ${client.project.projectId} --out ${out}`)
  const exported = JSON.parse(await readFile(out, 'utf8'))
  const times = {
    storedAtUtc: new Date(service.state.nowMs).toISOString(),
    expiresAtUtc: new Date(service.state.nowMs + 72 * hourMs).toISOString(),
  }
  assert.deepEqual(exported.subject.nearMisses, [{ requestId, ...times }])
})

test('A user of another account receives no picture, and a picture that was moved to another row is not shown', async () => {
  const client = await service.createClient('72')
  await enrollPerson(client, 'Ann')
  const first = await miss(client, 'svc.identify', await missing(client, pictureOf('Ann', 1)))
  const second = await miss(client, 'svc.identify', await missing(client, pictureOf('Ann', 2)))
  const [a, b] = await service.rowsOf(client)
  assert.ok(a && b)
  const { db } = service.testConsole.gallery.database.store
  const change = db.updateTable('nearMissCrops').set({ ciphertext: b.ciphertext })
  await change.where('cropId', '=', a.cropId).execute()
  const ofFirst = a.requestId === first ? first : second
  assert.equal(await service.show(ofFirst), 404)
  const other = await service.testConsole.gallery.createProjectClient({ galleryMode: 'isolated' })
  await service.set(other, '72')
  await enrollPerson(other, 'Ann')
  const requestId = randomUUID()
  const params = await missing(other, pictureOf('Ann', 1))
  await other.value('svc.identify', params, { requestId })
  const { callId } = await db
    .selectFrom('calls')
    .select('callId')
    .where('requestId', '=', requestId)
    .executeTakeFirstOrThrow()
  const before = (await service.displays()).length
  assert.equal((await service.testConsole.owner.send('POST', `/log/${callId}/picture`)).status, 404)
  assert.equal((await service.displays()).length, before)
})
