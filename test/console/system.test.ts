import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { supportBundle } from '../../src/cli/commands.ts'
import { settingsByTopic } from '../../src/config.ts'
import { createLog, type Log } from '../../src/lib/log.ts'
import {
  createRecentProblems,
  recentProblemsMax,
} from '../../src/lib/observability/recent-problems.ts'
import { addSample, startServer } from '../../src/store/system/system-history.ts'
import type { SystemSampleRow } from '../../src/store/system-schema.ts'
import { createAccount } from '../../src/store/tenancy/projects.ts'
import { runLines } from '../support/cli/run-json.ts'
import { assertOk, startConsole, validPassword } from '../support/console/test-console.ts'
import type { TestConsole } from '../support/console/test-console.ts'
import { databaseSettings, isOnPostgres } from '../support/database/engine.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const personName = 'Ada Canary'
const collector = 'https://collector.invalid/otlp'

let testConsole: TestConsole
let log: Log
before(async () => {
  const recentProblems = createRecentProblems()
  log = createLog('warn', { write: () => {} }, recentProblems.addLine)
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector}?key=otel-canary` }
  testConsole = await startConsole({ isMonitored: true, log, recentProblems, environment })
})
after(() => testConsole?.[Symbol.asyncDispose]())

const get = async (route: string) => assertOk(await testConsole.owner.get(route)).body
const download = () => testConsole.owner.send('POST', '/system/support-bundle')

/** One minute of another server. */
const sampleAt = (server: string, atMs: number, more: Partial<SystemSampleRow> = {}) => ({
  server,
  atMs,
  rssBytes: 1000,
  heapBytes: 500,
  workerBytes: 2000,
  workersUp: 1,
  queuedMax: 0,
  calls: 1,
  p50Ms: 10,
  p95Ms: 20,
  ...more,
})

test('The history of 24 hours survives a restart and contains every server', async () => {
  const { gallery } = testConsole
  const { store } = gallery.database
  const { server } = gallery.systemMonitor
  await gallery.value('svc.detect', imageParams('Ada'))
  await gallery.systemMonitor.store()
  const nowMs = Date.now()
  await store.write(async (tx) => {
    await addSample(tx, sampleAt('other:8080', nowMs - dayMs - minuteMs))
    await addSample(tx, sampleAt('other:8080', nowMs - 20 * minuteMs, { queuedMax: 7 }))
    await addSample(tx, sampleAt('other:8080', nowMs - 60 * minuteMs, { p50Ms: null, calls: 0 }))
  })
  // The next sample of any server deletes what is older than 24 hours, and a restart deletes nothing.
  await gallery.systemMonitor.start()
  await gallery.systemMonitor.store()
  const { db } = store
  const rows = await db.selectFrom('systemSamples').selectAll().execute()
  assert.deepEqual(
    rows.map((row) => row.server).toSorted(),
    ['other:8080', 'other:8080', server, server].toSorted(),
  )
  const { buckets, servers } = await get('/system/history')
  assert.equal(buckets.length, 288)
  const [own, other] = [server, 'other:8080'].map((name) =>
    servers.find((each: { server: string }) => each.server === name),
  )
  assert.equal(sum(own.calls), 1)
  assert.ok(own.p95Ms.some((value: number | null) => value !== null && value > 0))
  assert.ok(own.memoryBytes.at(-1) > 10_000_000)
  assert.equal(Math.max(...other.queued), 7)
  assert.deepEqual([sum(other.calls), other.queued.filter(isNumber).length], [1, 2])
  assert.equal(other.p50Ms.filter(isNumber).length, 1)
})

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
const isNumber = (value: unknown): boolean => typeof value === 'number'

test('Every server is shown as ready, stopped or lost, with its last report', async () => {
  const { gallery } = testConsole
  const { store } = gallery.database
  const stored = await store.db.selectFrom('systemServers').selectAll().executeTakeFirstOrThrow()
  const nowMs = Date.now()
  const times = { reportedAtMs: nowMs, stoppedAtMs: null }
  await store.write(async (tx) => {
    await startServer(tx, { ...stored, ...times, server: 'a:1' })
    await startServer(tx, { ...stored, ...times, server: 'b:1', stoppedAtMs: nowMs })
    await startServer(tx, {
      ...stored,
      ...times,
      server: 'c:1',
      reportedAtMs: nowMs - 4 * minuteMs,
    })
    await startServer(tx, { ...stored, ...times, server: 'd:1', report: '{"isLater":true}' })
  })
  const { servers } = await get('/system')
  const stateOf = (name: string) =>
    servers.find(({ server }: { server: string }) => server === name).state
  assert.deepEqual(['a:1', 'b:1', 'c:1', 'd:1'].map(stateOf), [
    'ready',
    'stopped',
    'lost',
    'not ready',
  ])
  const own = servers.find(({ isThis }: { isThis: boolean }) => isThis)
  assert.deepEqual(
    [own.server, own.state, own.pid],
    [gallery.systemMonitor.server, 'ready', process.pid],
  )
  assert.equal(own.starts, 2)
  assert.ok(own.report.database.responseMs > 0)
  assert.equal(own.report.database.connections !== null, isOnPostgres())
  assert.match(own.report.runtime['Node'], /^v\d+/u)
  assert.match(own.report.runtime['ONNX Runtime'], /^\d+\./u)
  assert.match(own.report.runtime['sharp'], /^\d+\./u)
})

test('A second server on the database has its own health and history', async () => {
  const { gallery } = testConsole
  if (!isOnPostgres()) return
  const stateOfSecond = async () => {
    const { servers } = await get('/system')
    return servers.find(({ server }: { server: string }) => server.endsWith(':8099')).state
  }
  const masterKey = { MASTER_KEY_FILE: path.join(gallery.dataDir, 'master.key') }
  const environment = { ...(await databaseSettings(gallery.dataDir)), ...masterKey, PORT: '8099' }
  {
    const { key, dataDir } = { key: 'unused', dataDir: path.join(gallery.dataDir, 'second') }
    await using second = await startGallery({ environment, key, dataDir, isMonitored: true, log })
    await second.systemMonitor.store()
    assert.equal(await stateOfSecond(), 'ready')
    const history = await get('/system/history')
    assert.ok(history.servers.some(({ server }: { server: string }) => server.endsWith(':8099')))
  }
  assert.equal(await stateOfSecond(), 'stopped')
})

test('Settings are grouped by topic with their meaning, and secrets are not shown', async () => {
  const { settings } = await get('/system')
  const byTopic = Object.fromEntries(
    settings.map(({ topic, settings: inner }: { topic: string; settings: { name: string }[] }) => [
      topic,
      inner.map(({ name }) => name),
    ]),
  )
  const expected = Object.entries(settingsByTopic).map(([topic, inner]) => [
    topic,
    Object.keys(inner),
  ])
  assert.deepEqual(byTopic, Object.fromEntries(expected))
  type Shown = { name: string; value: string; isDefault: boolean; meaning: string }
  const all: Shown[] = settings.flatMap((topic: { settings: Shown[] }) => topic.settings)
  const find = (name: string) => all.find((setting) => setting.name === name)
  assert.equal(find('DATABASE_URL')?.value, isOnPostgres() ? 'set' : 'not set')
  assert.deepEqual([find('CORS_ORIGINS')?.value, find('CORS_ORIGINS')?.isDefault], ['', true])
  assert.equal(find('OTEL_EXPORTER_OTLP_ENDPOINT')?.value, `${collector}?[removed]`)
  for (const { meaning } of all) assert.match(meaning, /^[^`[\]()]|\w/u)
  assert.ok(!JSON.stringify(all).includes('.md)'))
})

/** Everything that a support bundle must never contain, by its description. */
async function plantCanaries(): Promise<Readonly<Record<string, string>>> {
  const { owner, projectId, gallery, usedSetupToken } = testConsole
  const params = { ...imageParams('Ada'), externalId: 'canary-id', displayName: personName }
  await gallery.value('svc.enroll', params)
  const created = { projectId, name: 'door', permissions: ['svc.detect'] }
  const { key } = assertOk(await owner.send('POST', '/keys', created)).body
  const settings = { projectId, url: 'https://hooks.invalid/path-canary', events: ['budget.low'] }
  const { secret } = assertOk(await owner.send('POST', '/webhooks', settings)).body
  const invited = assertOk(
    await owner.send('POST', '/users', { name: 'Berta Canary', role: 'viewer' }),
  )
  const masterKey = (await readFile(path.join(gallery.dataDir, 'master.key'), 'utf8'))
    .trim()
    .split(' ')
  const { DATABASE_URL = '' } = await databaseSettings(gallery.dataDir)
  const databaseUrl = DATABASE_URL || 'postgres://role:pg-canary@db.invalid/faces'
  const canaries = {
    'first API key': gallery.key,
    'created API key': key,
    'secret part of the key': key.slice(10, 40),
    password: validPassword,
    'setup token': usedSetupToken,
    'invite token': new URL(invited.body.inviteLink).hash.slice(1),
    'session token': owner.cookie().split('=')[1] ?? '',
    'CSRF token': owner.csrfToken(),
    'webhook secret': secret,
    'webhook address': 'path-canary',
    'master key': masterKey[1] ?? '',
    'connection string': databaseUrl,
    'password of the database': 'pg-canary',
    'query of the collector': 'otel-canary',
    'name of a person': personName,
    'external id': 'canary-id',
    'name of the owner': 'Olga',
    'name of an invited user': 'Berta Canary',
    'email address': 'ada@canary.invalid',
    'client address': '192.0.2.77',
  }
  for (const [description, canary] of Object.entries(canaries)) {
    assert.ok(canary.length > 3, description)
    const err = Object.assign(new TypeError(`failed for ${canary}\n    at ${canary}`), {
      code: 'ECANARY',
      detail: `Key (name)=(${canary})`,
      cause: new Error(canary),
    })
    log.error({ err, text: canary, clientIp: '192.0.2.77', count: 3 }, 'a planted failure')
  }
  log.warn(`tokens ${key} ${secret} ${masterKey[1]} ada@canary.invalid ${databaseUrl}`)
  return canaries
}

test('A support bundle helps to find a problem and contains no secret and no person', async () => {
  const canaries = await plantCanaries()
  const { gallery } = testConsole
  // What is stored is checked too: another server, or the command line, creates a bundle from it.
  await gallery.systemMonitor.store()
  const console = assertOk(await download())
  const file = path.join(gallery.dataDir, 'support.json')
  await runLines(gallery.dataDir, supportBundle, `--to ${file}`)
  if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o077, 0)
  const texts = { console: console.text, 'command line': await readFile(file, 'utf8') }
  for (const [origin, text] of Object.entries(texts)) {
    for (const [description, canary] of Object.entries(canaries))
      assert.ok(!text.includes(canary), `${description} in the bundle of the ${origin}`)
    assertUseful(JSON.parse(text))
  }
  await assert.rejects(
    runLines(gallery.dataDir, supportBundle, `--to ${file}`),
    /exists already; name another file/u,
  )
})

// oxlint-disable-next-line typescript/no-explicit-any
function assertUseful(bundle: any): void {
  const { runtime, database, settings, models, servers, history, rows } = bundle
  assert.equal(runtime.Node, process.version)
  assert.ok(database.migrations.some(({ name }: { name: string }) => name === '001-tenancy'))
  assert.equal(settings['Request limits'].IMAGE_SIDE_MIN_PX.isDefault, true)
  assert.ok(models.active.length > 0)
  assert.match(models.templateModel.sha256.cohort, /^[\da-f]{64}$/u)
  assert.ok(rows.subjects >= 1 && rows.projects >= 1)
  assert.ok(history.rows.length >= 2 && history.columns.includes('p95Ms'))
  const { server } = testConsole.gallery.systemMonitor
  const own = servers.find((each: { server: string }) => each.server === server)
  const planted = own.report.problems.find(
    ({ message }: { message: string }) => message === 'a planted failure',
  )
  assert.deepEqual(
    [planted.error.type, planted.error.code, planted.values],
    ['TypeError', 'ECANARY', { count: 3 }],
  )
  assert.match(planted.error.frames[0], /^plantCanaries test\/console\/system\.test\.ts:\d+:\d+$/u)
}

test('Each download is audited; viewers and users of other accounts receive none', async () => {
  const entries = async () => (await get('/audit?auditAction=system.supportBundle')).items
  const before = (await entries()).length
  assertOk(await download())
  const [entry] = await entries()
  assert.equal((await entries()).length, before + 1)
  assert.deepEqual([entry.userName, entry.description], ['Olga', 'Downloaded a support bundle'])
  const viewer = await testConsole.inviteMember('viewer')
  assert.equal((await viewer.send('POST', '/system/support-bundle')).status, 403)
  const { db } = testConsole.gallery.database.store
  assert.ok((await get('/system')).settings.length > 0)
  await createAccount(db, 'older', new Date(0))
  const { settings, store } = await get('/system')
  assert.deepEqual([settings, store.place], [[], ''], 'no settings and files of the installation')
  const refused = await download()
  assert.deepEqual([refused.status, (await entries()).length], [403, before + 1])
  assert.match(refused.body.detail, /first account/u)
})

test('The memory keeps the last warnings and errors, and no other line', () => {
  const problems = createRecentProblems()
  const full = createLog('debug', { write: () => {} }, problems.addLine)
  full.info('not a problem')
  for (let index = 0; index <= recentProblemsMax; index++) full.warn({ index }, 'a warning')
  full.error('the last')
  const list = problems.list()
  assert.equal(list.length, recentProblemsMax)
  assert.deepEqual([list[0]?.values, list.at(-1)?.message], [{ index: 2 }, 'the last'])
  problems.addLine('{"level":"error" not JSON')
  assert.equal(problems.list().length, recentProblemsMax)
})
