import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { subjectCommands } from '../../../src/cli/subject/commands.ts'
import { keyCommands } from '../../../src/cli/tenancy/commands.ts'
import { hourMs } from '../../../src/lib/clock.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { copyDatabase, isReadable, unwrapAllKeys } from '../../support/gallery/database-copy.ts'
import { enrollPerson } from '../../support/gallery/feedback.ts'
import {
  type NearMissService,
  cropOf,
  miss,
  missing,
  pictureOf,
  startNearMisses,
} from '../../support/console/near-misses.ts'

let service: NearMissService
before(async () => {
  service = await startNearMisses()
})
after(() => service[Symbol.asyncDispose]())

test('The time is limited to 72 hours and ends to the millisecond; the next sweep deletes the picture', async () => {
  const client = await service.createClient()
  for (const hours of ['0', '73', '1.5', 'on'])
    await assert.rejects(service.set(client, hours), /a whole number from 1 to 72, or off/u)
  const { projectId } = client.project
  for (const nearMissHours of [0, 73])
    assert.equal(
      (await service.testConsole.owner.send('PATCH', `/projects/${projectId}`, { nearMissHours }))
        .status,
      422,
    )
  for (const hours of [1, 72]) {
    await service.set(client, String(hours))
    await enrollPerson(client, `Person ${hours}`)
    const params = await missing(client, pictureOf(`Person ${hours}`, 1))
    const requestId = await miss(client, 'svc.identify', params)
    await service.pass(hours * hourMs - 1)
    await service.sweep()
    assert.equal(typeof (await service.show(requestId)), 'string')
    await service.pass(1)
    assert.deepEqual(
      [await service.offered(requestId), await service.show(requestId)],
      [undefined, 404],
    )
    assert.equal((await service.rowsOf(client)).length, 1)
    await service.sweep()
    assert.deepEqual(await service.rowsOf(client), [])
  }
})

test('A shorter time and off apply to the stored pictures, a longer time to later ones', async () => {
  const client = await service.createClient('48')
  const { projectId } = client.project
  await enrollPerson(client, 'Ann')
  const params = await missing(client, pictureOf('Ann', 1))
  const first = await miss(client, 'svc.identify', params)
  const expiry = (hours: number) => new Date(service.state.nowMs + hours * hourMs).toISOString()
  const edit = (body: object) =>
    service.testConsole.owner.send('PATCH', `/projects/${projectId}`, body)
  assertOk(await edit({ nearMissHours: 72 }))
  assert.equal(await service.offered(first), expiry(48))
  await service.set(client, '3')
  assert.equal(await service.offered(first), expiry(3))
  await service.pass(2 * hourMs)
  const second = await miss(client, 'svc.identify', params)
  const { owner } = service.testConsole
  const losses = assertOk(await owner.get(`/projects/${projectId}/losses?nearMissHours=1`)).body
  assert.deepEqual(losses.nearMisses.deleted, { total: 1, isCapped: false })
  const refused = await edit({ nearMissHours: 1 })
  assert.equal(refused.status, 409)
  assert.match(refused.body.detail, /would delete 1 pictures of near misses, but 0 were confirmed/u)
  const confirmedLosses = { nearMisses: 1 }
  assertOk(await edit({ nearMissHours: 1, confirmedLosses }))
  assert.deepEqual(
    [await service.offered(first), await service.offered(second)],
    [undefined, expiry(1)],
  )
  assert.equal((await service.rowsOf(client)).length, 1, 'the first one was deleted')
  const off = { switches: { nearMissCrops: false } }
  assert.equal((await edit(off)).status, 409)
  assert.equal((await service.rowsOf(client)).length, 1, 'nothing is deleted without confirmation')
  const shown = assertOk(await edit({ ...off, confirmedLosses })).body
  assert.deepEqual([shown.switches.nearMissCrops, shown.nearMissHours], [false, 1])
  assert.deepEqual([await service.rowsOf(client), await service.show(second)], [[], 404])
  await miss(client, 'svc.identify', params)
  assert.deepEqual(await service.rowsOf(client), [])
  assert.equal((await service.set(client, 'off')).switches.nearMissCrops, false)
})

test('A call that runs while the setting is switched off keeps no picture', async () => {
  const client = await service.createClient('24')
  await enrollPerson(client, 'Ann')
  const params = await missing(client, pictureOf('Ann', 1))
  const { vision } = service.testConsole.gallery
  const before = vision.requests.length
  const { promise, resolve } = Promise.withResolvers<void>()
  service.state.analysis = promise
  const call = miss(client, 'svc.identify', params)
  while (vision.requests.length === before) await new Promise(setImmediate)
  await service.set(client, 'off')
  resolve()
  await call
  assert.deepEqual(await service.rowsOf(client), [])
})

test('The picture ends with its subject: by deletion, expiry or merge', async () => {
  const client = await service.createClient('72')
  const missOf = async (name: string) =>
    miss(client, 'svc.identify', await missing(client, pictureOf(name, 1)))
  const ann = await enrollPerson(client, 'Ann')
  const deleted = await missOf('Ann')
  await client.value('svc.deleteSubject', { subjectId: ann })
  assert.deepEqual([await service.rowsOf(client), await service.show(deleted)], [[], 404])
  const expiresAtUtc = new Date(service.state.nowMs + 1).toISOString()
  await enrollPerson(client, 'Bea', { expiresAtUtc })
  const expired = await missOf('Bea')
  assert.equal(typeof (await service.show(expired)), 'string')
  await service.pass(1)
  assert.deepEqual([await service.offered(expired), await service.show(expired)], [undefined, 404])
  await service.sweep()
  assert.deepEqual(await service.rowsOf(client), [])
  await enrollPerson(client, 'Dan', { externalId: 'dan' })
  await missOf('Dan')
  await enrollPerson(client, 'Eve', { externalId: 'eve' })
  const kept = await missOf('Eve')
  const { projectId } = client.project
  const { runForJson } = createLineRunner(
    [subjectCommands],
    () => service.testConsole.gallery.dataDir,
  )
  await runForJson(`subject merge dan --into eve --project ${projectId}`)
  assert.deepEqual(
    (await service.rowsOf(client)).map(({ requestId }) => requestId),
    [kept],
  )
})

test('A key rotation keeps pictures, and those that ended before are then unreadable in an older copy', async () => {
  const client = await service.createClient('2')
  await enrollPerson(client, 'Ann')
  const params = await missing(client, pictureOf('Ann', 1))
  await miss(client, 'svc.identify', params)
  await service.pass(hourMs)
  const kept = await miss(client, 'svc.identify', params)
  const { store } = service.testConsole.gallery.database
  const ids = new Set((await service.rowsOf(client)).map(({ cropId }) => cropId))
  const own = ({ nearMisses }: Awaited<ReturnType<typeof copyDatabase>>) =>
    nearMisses.filter(({ faceId }) => ids.has(faceId))
  const copy = await copyDatabase(store)
  await service.pass(hourMs)
  await service.sweep()
  await runJson(service.testConsole.gallery.dataDir, keyCommands, 'rotate-master')
  const today = await copyDatabase(store)
  const masterKeyFile = path.join(service.testConsole.gallery.dataDir, 'master.key')
  const keys = unwrapAllKeys([copy, today], masterKeyFile)
  assert.deepEqual([own(copy).length, own(today).length], [2, 1])
  assert.ok(own(today).every((crop) => isReadable(crop, keys)))
  assert.ok(!own(copy).some((crop) => isReadable(crop, keys)), 'the former ciphertexts')
  assert.equal(await service.show(kept), cropOf('Ann', 1))
})

test('The deletion of a project deletes the pictures of its calls, also in the shared gallery', async () => {
  const own = await service.createClient()
  const { accountId } = own.project
  const client = await service.testConsole.gallery.createProjectClient({
    galleryMode: 'shared',
    accountId,
  })
  const other = await service.testConsole.gallery.createProjectClient({
    galleryMode: 'shared',
    accountId,
  })
  await service.set(client, '72')
  await service.set(other, '72')
  await enrollPerson(client, 'Ann')
  const params = await missing(client, pictureOf('Ann', 1))
  const requestId = await miss(client, 'svc.identify', params)
  const kept = await miss(other, 'svc.identify', params)
  const { projectId, name } = client.project
  const removal = await service.testConsole.owner.send('DELETE', `/projects/${projectId}`, {
    confirm: name,
  })
  assertOk(removal)
  assert.deepEqual(await service.rowsOf(client), [])
  assert.equal(typeof (await service.show(kept)), 'string')
  assert.equal(await service.show(requestId), 404)
})
