import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import {
  createGalleryMeasurements,
  type MeasurementMessage,
  type MeasurementRequest,
  type MeasurementThreadData,
} from '../../src/gallery/calibration/measurements.ts'
import { findBrokenAuditEntries } from '../../src/store/console/audit-log.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { fillPeople } from '../support/console/fill-people.ts'
import { databaseSettings, isOnPostgres } from '../support/database/engine.ts'
import { embeddingOf, fakeCalibrations } from '../support/gallery/fake-vision.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'

const modelId = 'people@1'
const shipped = fakeCalibrations({ active: modelId }).of(modelId) ?? assert.fail('a table exists')

let testConsole: TestConsole
let owner: { readonly projectId: string; readonly accountId: string }
before(async () => {
  testConsole = await startConsole()
  const { gallery, projectId } = testConsole
  const { db } = gallery.database.store
  const account = await db.selectFrom('accounts').select('accountId').executeTakeFirstOrThrow()
  owner = { projectId, ...account }
  await fillPeople(gallery, owner, { count: 199 })
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, `/projects/${testConsole.projectId}/calibration/${path}`, body)
const start = (samePerson: readonly (readonly string[])[] = []) =>
  send('POST', 'measurement', { samePerson })
const find = async () =>
  assertOk(
    await testConsole.owner.get(`/projects/${testConsole.projectId}/calibration/measurement`),
  ).body

async function runInPlayground(action: string, params: object) {
  const call = { projectId: testConsole.projectId, call: { action, params } }
  const { envelope } = assertOk(await testConsole.owner.send('POST', '/playground', call)).body
  return envelope.data.results[0].value
}

/** Starts a measurement and returns its final state. */
async function measure(samePerson: readonly (readonly string[])[] = []) {
  const { measurementId } = assertOk(await start(samePerson)).body
  for (;;) {
    const found = await find()
    assert.equal(found.measurementId, measurementId)
    if (found.state !== 'running') return found
    await sleep(50)
  }
}

async function auditEntries(auditAction: string) {
  const { db } = testConsole.gallery.database.store
  assert.deepEqual(await findBrokenAuditEntries(db), [])
  const rows = await db
    .selectFrom('auditLog')
    .selectAll()
    .where('auditAction', '=', auditAction)
    .execute()
  return rows.map(({ userName, target, detail }) => ({
    userName,
    target,
    detail: JSON.parse(detail),
  }))
}

test('A gallery of 199 subjects is refused with the rule and the remedy', async () => {
  assert.deepEqual(await find(), { state: 'none' })
  const { state, reason } = await measure()
  assert.equal(state, 'refused')
  assert.match(reason, /199 subjects .* 1e-3 needs at least 200: enroll 1 more/u)
})

test('A viewer cannot start, discard or apply a calibration', async () => {
  const viewer = await testConsole.inviteMember('viewer')
  const path = `/projects/${testConsole.projectId}/calibration`
  const responses = [
    await viewer.send('POST', `${path}/measurement`, { samePerson: [] }),
    await viewer.send('DELETE', `${path}/measurement`),
    await viewer.send('POST', `${path}/apply`, { measurementId: owner.projectId, confirm: '' }),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [403, 403, 403],
  )
})

test('A confirmed duplicate is left out, and the applied table is in use at once', async () => {
  const twice = { ...imageParams({ name: 'person 5', deviation: 0.5 }), externalId: 'person-5b' }
  await runInPlayground('svc.enroll', twice)
  const identify = () => runInPlayground('svc.identify', imageParams('person 3'))
  assert.equal((await identify()).calibration, 'model')

  const found = await measure()
  assert.equal(found.state, 'measured')
  const { report } = found
  assert.deepEqual([report.subjects, report.pairs, report.otherFaces], [200, 19_900, 0])
  const sources = report.points.map(({ source }: { source: string }) => source)
  assert.deepEqual(sources, ['counted', 'counted', 'counted', 'extrapolated', 'model', 'model'])
  assert.equal(report.points[4].subjectsNeeded, 633)
  assert.ok(found.curve.length > 50)
  const { different, same } = found.distribution
  const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0)
  assert.deepEqual([sumOf(different), sumOf(same)], [19_900, 0], 'each subject has one template')
  assert.equal(report.groups.length, 3)
  const [{ subjectA, subjectB }] = report.suspectedDuplicates
  const externalIds = new Set([subjectA.externalId, subjectB.externalId])
  assert.deepEqual(externalIds, new Set(['person-5', 'person-5b']))

  const ids = [subjectA.subjectId, subjectB.subjectId]
  const withoutPair = await measure([ids])
  assert.equal(withoutPair.report.pairs, 19_899)
  assert.equal(withoutPair.report.points[3].scoreWithExcluded, report.points[3].score)
  assert.ok(withoutPair.report.points[3].score < report.points[3].score)

  const confirm = 'default'
  const apply = (measurementId: string) => send('POST', 'apply', { measurementId, confirm })
  assert.equal((await apply(found.measurementId)).status, 409, 'the result was replaced')
  const { measurementId, projects } = withoutPair
  assert.deepEqual(projects, [{ projectId: owner.projectId, name: 'default' }])
  assert.equal((await send('POST', 'apply', { measurementId, confirm: 'other' })).status, 422)
  const { calibrationId } = assertOk(await apply(measurementId)).body
  assert.equal((await identify()).calibration, 'gallery')
  const [entry, ...others] = await auditEntries('calibration.apply')
  assert.deepEqual(others, [])
  assert.deepEqual([entry?.userName, entry?.target], ['Olga', owner.projectId])
  assert.equal(entry?.detail.calibrationId, calibrationId)
  assert.deepEqual(entry?.detail.excluded, [ids])
  const { galleryCalibrations } = assertOk(await testConsole.owner.get('/models')).body
  assert.deepEqual(
    galleryCalibrations.map((row: Record<string, unknown>) => [row['appliedBy'], row['pairs']]),
    [['Olga', 19_899]],
  )
  assertOk(await send('POST', 'revert', { confirm }))
  assert.equal((await identify()).calibration, 'model')
})

test('A pair that is no suspected duplicate cannot be left out', async () => {
  const { db } = testConsole.gallery.database.store
  const subjects = await db
    .selectFrom('subjects')
    .select('subjectId')
    .where('externalId', 'in', ['person-1', 'person-2'])
    .execute()
  const { state, reason } = await measure([subjects.map(({ subjectId }) => subjectId)])
  assert.equal(state, 'refused')
  assert.match(reason, /^samePerson\.0: this pair is not a suspected duplicate/u)
})

/** Starts measurements until a second start is refused before the end of the first one. */
async function startTwice(): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const statuses = [assertOk(await start()).status, (await start()).status]
    while ((await find()).state === 'running') await sleep(50)
    if (statuses[1] === 409) return
  }
  assert.fail('every measurement ended before the next request')
}

test('A second measurement is refused while one runs, and a running one can be discarded', async () => {
  await startTwice()
  assertOk(await start())
  assertOk(await send('DELETE', 'measurement'))
  assert.deepEqual(await find(), { state: 'none' })
  assert.equal((await send('DELETE', 'measurement')).status, 409)
  assert.equal((await measure()).state, 'measured', 'the next one is not blocked')
  assert.equal((await auditEntries('calibration.discard')).length, 1)
})

async function threadData(request: Partial<MeasurementRequest> = {}) {
  const { dataDir } = testConsole.gallery
  const { DATABASE_URL: databaseUrl = '' } = await databaseSettings(dataDir)
  const gallery = { accountId: owner.accountId, galleryId: owner.projectId }
  return {
    location: { dataDir, databaseUrl },
    masterKeyFile: `${dataDir}/master.key`,
    kind: 'calibration' as const,
    request: { ...gallery, shipped, samePerson: [], ...request },
  }
}

async function messagesOf(workerData: MeasurementThreadData): Promise<MeasurementMessage[]> {
  const file = new URL('../../src/gallery/calibration/measurement-thread.ts', import.meta.url)
  const worker = new Worker(file, { workerData })
  const messages: MeasurementMessage[] = []
  worker.on('message', (message: MeasurementMessage) => messages.push(message))
  await once(worker, 'exit')
  return messages
}

test('The thread reports its progress and the result, and no templates', async () => {
  const messages = await messagesOf(await threadData())
  const progress = messages.flatMap((message) =>
    message.state === 'running' ? [message.progress] : [],
  )
  assert.deepEqual(progress[0], { step: 'templates', done: 200, total: 200 })
  const pairs = progress.filter(({ step }) => step === 'pairs').map(({ done }) => done)
  assert.equal(pairs.length, 100)
  assert.deepEqual(
    pairs,
    pairs.toSorted((a, b) => a - b),
  )
  assert.equal(pairs.at(-1), 19_900)
  assert.equal(messages.at(-1)?.state, 'measured')
  const values = messages.map((message) => JSON.stringify(message)).join('')
  const [first = 0] = embeddingOf({ name: 'person 7' })
  assert.ok(!values.includes(String(first).slice(0, 8)), 'no vector is sent')
  assert.ok(values.length < 100_000)
})

test('The thread of another account reads no row of the gallery', async (t) => {
  if (!isOnPostgres()) return t.skip('row-level security needs PostgreSQL')
  const [message] = await messagesOf(
    await threadData({ accountId: '00000000-0000-4000-8000-000000000000' }),
  )
  assert.ok(message?.state === 'refused')
  assert.match(message.reason, /has 0 subjects/u)
})

test('The measurements of several accounts run one after another, and a result is kept for 15 minutes', async () => {
  let nowMs = 0
  const { request, ...places } = await threadData()
  const log = { error: () => assert.fail('no measurement fails') }
  const measurements = createGalleryMeasurements({
    ...places,
    kind: 'calibration',
    clock: () => nowMs,
    log,
  })
  const other = { ...request, accountId: 'other' }
  assert.ok(measurements.start(request) !== undefined)
  assert.equal(measurements.start({ ...request, galleryId: 'other' }), undefined)
  assert.ok(measurements.start(other) !== undefined, 'another account waits')
  const third = { ...request, accountId: 'third' }
  assert.ok(measurements.start(third) !== undefined)
  assert.equal(await measurements.discard(third), true, 'it still waits')
  assert.equal(measurements.find(third), undefined)
  while (measurements.find(request)?.state === 'running') {
    assert.equal(measurements.find(other)?.state, 'running')
    await sleep(20)
  }
  while (measurements.find(other)?.state === 'running') await sleep(20)
  // Only PostgreSQL refuses the gallery of another account, in the thread.
  assert.match(String(measurements.find(other)?.state), /^(?:measured|refused)$/u)
  assert.ok(measurements.start(third) !== undefined, 'a discarded one does not block its account')
  while (measurements.find(third)?.state === 'running') await sleep(20)
  assert.equal(measurements.find(request)?.state, 'measured')
  const endedAtMs = nowMs
  nowMs = endedAtMs + 15 * 60_000 - 1
  assert.ok(measurements.find(request))
  nowMs++
  assert.equal(measurements.find(request), undefined)
})

test('The results of a limited number of galleries are kept', async () => {
  const { request, ...places } = await threadData()
  const log = { error: () => assert.fail('no measurement fails') }
  const options = { ...places, clock: () => 0, log, keptMax: 2 }
  const measurements = createGalleryMeasurements(options)
  const galleries = ['a', 'b', 'c'].map((galleryId) => ({ ...request, galleryId }))
  for (const gallery of galleries) {
    assert.ok(measurements.start(gallery) !== undefined)
    while (measurements.find(gallery)?.state === 'running') await sleep(20)
  }
  const states = galleries.map((gallery) => measurements.find(gallery)?.state)
  assert.deepEqual(states, [undefined, 'refused', 'refused'])
})

test('A measurement whose thread cannot be created has failed, and later ones run', async () => {
  const { request, ...places } = await threadData()
  const log = { error: mock.fn() }
  const options = { ...places, clock: Date.now, log }
  const measurements = createGalleryMeasurements(options)
  // A function cannot be sent to a thread, so that its creation fails.
  const unsendable = { ...request, galleryId: 'other', shipped: { ...shipped, send: () => 0 } }
  assert.ok(measurements.start(unsendable) !== undefined)
  while (measurements.find(unsendable)?.state === 'running') await sleep(20)
  assert.equal(measurements.find(unsendable)?.state, 'failed')
  assert.equal(log.error.mock.callCount(), 1)
  assert.ok(measurements.start(request) !== undefined, 'the account is not blocked')
  while (measurements.find(request)?.state === 'running') await sleep(20)
  assert.equal(measurements.find(request)?.state, 'measured')
})
