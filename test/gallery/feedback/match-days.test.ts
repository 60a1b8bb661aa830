import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { subjectCommands } from '../../../src/cli/subject/commands.ts'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { dayMs, dayOf, formatUtc } from '../../../src/lib/clock.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import {
  imageOf,
  type NearMissService,
  type NearMissClient,
  startNearMisses,
} from '../../support/console/near-misses.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { enrollPerson, identify, pictureOf } from '../../support/gallery/feedback.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

let service: NearMissService
before(async () => {
  service = await startNearMisses()
})
after(() => service[Symbol.asyncDispose]())

type Client = Pick<NearMissClient, 'project'>

const set = ({ project: { projectId } }: Client, state: 'on' | 'off') =>
  runJson(service.testConsole.gallery.dataDir, project, `set ${projectId} --match-days ${state}`)

async function createClient(galleryMode: 'isolated' | 'shared' = 'isolated') {
  const { accountId } = (await service.createClient()).project
  const client = await service.testConsole.gallery.createProjectClient({ galleryMode, accountId })
  await set(client, 'on')
  return client
}

/** Returns the matches of a person by day, as the console shows them in the project. */
async function shown({ project: { projectId } }: Client, subjectId: string) {
  const url = `/projects/${projectId}/subjects/${subjectId}/match-days`
  const { items } = assertOk(await service.testConsole.owner.get(url)).body
  return items.map(({ day, matches }: { day: string; matches: number }) => `${day} ${matches}`)
}

const rowsOf = async ({ project: { projectId } }: Client) => {
  const rows = service.testConsole.gallery.database.store.db.selectFrom('matchDays').selectAll()
  return (await rows.where('projectId', '=', projectId).execute()).length
}

const today = () => dayOf(formatUtc(service.state.nowMs))

/** Continues at a time of a day. */
const continueAt = (daysLater: number, time: string) =>
  service.pass(
    Date.parse(`${dayOf(formatUtc(service.state.nowMs + daysLater * dayMs))}T${time}Z`) -
      service.state.nowMs,
  )

test('A project counts no matches before it is switched on', async () => {
  const client = await service.createClient()
  const subjectId = await enrollPerson(client, 'Ann')
  await identify(client, pictureOf('Ann', 1))
  assert.deepEqual([await rowsOf(client), await shown(client, subjectId)], [0, []])
  const changed = await set(client, 'on')
  assert.equal(changed.switches.matchDays, true)
  assert.deepEqual(await shown(client, subjectId), [])
  await identify(client, pictureOf('Ann', 1))
  assert.deepEqual(await shown(client, subjectId), [`${today()} 1`])
})

test('Each call counts once for each person that it matches, and a replay does not', async () => {
  const client = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const bea = await enrollPerson(client, 'Bea')
  const counted = async () => [await shown(client, ann), await shown(client, bea)]
  const images = [imageOf({ name: 'Ann' }, { name: 'Bea' }), imageOf({ name: 'Ann', take: 1 })]
  await identify(client, { images, maxFaces: 2 })
  const once = [[`${today()} 1`], [`${today()} 1`]]
  assert.deepEqual(await counted(), once)
  const requestId = randomUUID()
  for (let sending = 0; sending < 3; sending++)
    await client.value('svc.verify', { ...pictureOf('Ann', 2), subjectId: ann }, { requestId })
  const twice = [[`${today()} 2`], [`${today()} 1`]]
  assert.deepEqual(await counted(), twice)
  await client.value('svc.verify', { ...pictureOf('Bea', 1), subjectId: ann })
  await client.value('svc.verify', { images: [imageOf({ name: 'Ann' }), imageOf({ name: 'Ann' })] })
  await client.value('svc.identify', { ...imageParams('Cleo'), threshold: 0.99 })
  await client.value('svc.identify', { subjectId: ann })
  await client.code('svc.identify', { ...imageParams('Ann'), minQuality: 101 })
  assert.deepEqual(await counted(), twice, 'no person of the gallery was matched')
})

test('Days are days in UTC and are kept for 90 days', async () => {
  const client = await createClient()
  const subjectId = await enrollPerson(client, 'Ann')
  await continueAt(1, '23:59:59.999')
  const first = today()
  await identify(client, pictureOf('Ann', 1))
  await service.pass(1)
  await identify(client, pictureOf('Ann', 2))
  const second = today()
  assert.deepEqual(await shown(client, subjectId), [`${first} 1`, `${second} 1`])
  await continueAt(88, '23:59:59.999')
  await service.sweep()
  assert.deepEqual(await shown(client, subjectId), [`${first} 1`, `${second} 1`])
  await service.pass(1)
  await service.sweep()
  assert.deepEqual([await rowsOf(client), await shown(client, subjectId)], [1, [`${second} 1`]])
})

test('Off and the deletions of the subject and of the project delete the counts', async () => {
  const client = await createClient()
  const { projectId, name } = client.project
  const ann = await enrollPerson(client, 'Ann')
  const bea = await enrollPerson(client, 'Bea')
  for (const person of ['Ann', 'Bea']) await identify(client, pictureOf(person, 1))
  await client.value('svc.deleteSubject', { subjectId: ann })
  assert.equal(await rowsOf(client), 1)
  const { owner } = service.testConsole
  const switches = { matchDays: false }
  const off = assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
  assert.equal(off.body.switches.matchDays, false)
  assert.deepEqual([await rowsOf(client), await shown(client, bea)], [0, []])
  const [entry] = assertOk(await owner.get('/audit?auditAction=project.update&limit=1')).body.items
  assert.deepEqual([entry.target, entry.detail], [projectId, { switches }])
  await identify(client, pictureOf('Bea', 2))
  await set(client, 'on')
  assert.deepEqual(await shown(client, bea), [], 'what happened while it was off')
  await identify(client, pictureOf('Bea', 3))
  await set(client, 'off')
  assert.equal(await rowsOf(client), 0)
  await set(client, 'on')
  await identify(client, pictureOf('Bea', 4))
  assert.equal(await rowsOf(client), 1)
  assertOk(await owner.send('DELETE', `/projects/${projectId}`, { confirm: name }))
  assert.equal(await rowsOf(client), 0)
})

test('A call that runs while the counting is switched off is not counted', async () => {
  const client = await createClient()
  await enrollPerson(client, 'Ann')
  const { vision } = service.testConsole.gallery
  const before = vision.requests.length
  const { promise, resolve } = Promise.withResolvers<void>()
  service.state.analysis = promise
  const call = identify(client, pictureOf('Ann', 1))
  while (vision.requests.length === before) await new Promise(setImmediate)
  await set(client, 'off')
  resolve()
  assert.equal((await call).value.matched, true)
  assert.equal(await rowsOf(client), 0)
})

test('In a shared gallery, each project has its own counts, and other accounts see none', async () => {
  const door = await createClient('shared')
  const { accountId } = door.project
  const { gallery, owner } = service.testConsole
  const desk = await gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await set(desk, 'on')
  const subjectId = await enrollPerson(door, 'Ann')
  for (const [client, take] of [
    [door, 1],
    [door, 2],
    [desk, 3],
  ] as const)
    await identify(client, pictureOf('Ann', take))
  const url = (client: Client) =>
    `/projects/${client.project.projectId}/subjects/${subjectId}/match-days`
  const { items, projects, lastDay, dayCount } = assertOk(await owner.get(url(desk))).body
  const named = new Map<string, string>(
    projects.map(({ projectId, name }: { projectId: string; name: string }) => [projectId, name]),
  )
  const counts: readonly string[] = items.map(
    (item: { projectId: string; matches: number }) =>
      `${named.get(item.projectId)} ${item.matches}`,
  )
  const expected = [`${door.project.name} 2`, `${desk.project.name} 1`]
  assert.deepEqual(counts.toSorted(), expected.toSorted())
  assert.deepEqual([lastDay, dayCount], [today(), 90])
  await set(door, 'off')
  assert.deepEqual(await shown(door, subjectId), [`${today()} 1`])
  const otherAccount = await gallery.createProjectClient({ galleryMode: 'shared' })
  assert.equal((await owner.get(url(otherAccount))).status, 404)
  const isolated = await createClient()
  assert.equal((await owner.get(url(isolated))).status, 404)
})

test('A merge adds the counts, and its undo returns them; the export lists them', async () => {
  const client = await createClient()
  const { projectId } = client.project
  const { dataDir } = service.testConsole.gallery
  const { runForJson } = createLineRunner([subjectCommands], () => dataDir)
  await enrollPerson(client, 'Ann', { externalId: 'ann' })
  const bea = await enrollPerson(client, 'Bea', { externalId: 'bea' })
  for (const name of ['Ann', 'Ann', 'Bea']) await identify(client, imageParams(name))
  const first = today()
  await continueAt(1, '12:00:00')
  await identify(client, imageParams('Ann'))
  const second = today()
  const { mergeId } = await runForJson(`subject merge ann --into bea --project ${projectId}`)
  assert.deepEqual(await shown(client, bea), [`${first} 3`, `${second} 1`])
  await identify(client, imageParams('Ann'))
  assert.deepEqual(await shown(client, bea), [`${first} 3`, `${second} 2`])
  const out = path.join(dataDir, `${randomUUID()}.json`)
  await runForJson(`subject export bea --project ${projectId} --out ${out}`)
  assert.deepEqual(JSON.parse(await readFile(out, 'utf8')).subject.matchDays, [
    { projectId, day: first, matches: 3 },
    { projectId, day: second, matches: 2 },
  ])
  const undo = `subject unmerge ${mergeId} --project ${projectId}`
  const { subjectId } = await runForJson(undo)
  assert.deepEqual(
    [await shown(client, subjectId), await shown(client, bea)],
    [
      [`${first} 2`, `${second} 1`],
      [`${first} 1`, `${second} 1`],
    ],
  )
})
