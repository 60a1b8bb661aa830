import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import {
  accountTables,
  ownedBy,
  readAccountIds,
} from '../../src/store/account-move/account-tables.ts'
import { runnerOf } from '../../src/store/account-move/remove-account.ts'
import { addUser } from '../../src/store/console/users.ts'
import type { Project } from '../../src/store/tenancy/projects.ts'
import { runAsAccount } from '../../src/lib/account-context.ts'
import { cliOutput, runCli, startCli } from '../support/cli/run-cli.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import {
  createGalleryClient,
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { fillTemplates } from '../support/gallery/fill-templates.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { createTestClient } from '../support/facegate/test-client.ts'
import {
  holdLock,
  killWhen,
  queryAllAccounts,
  waitUntil,
} from '../support/migration/run-migration.ts'
import { haproxySkipReason, startHaProxy } from '../support/network/haproxy.ts'
import {
  startTraffic,
  type AcknowledgedCall,
  type TrafficCall,
} from '../support/nodes/retrying-traffic.ts'

/** Two installations with one master key, and the settings of commands for each of them. */
type Installation = {
  readonly gallery: TestGallery
  readonly url: string
  readonly settings: Readonly<Record<string, string>>
}

async function startInstallation(
  opened: AsyncDisposableStack,
  dataDir: string,
  onAnalyze?: () => Promise<unknown>,
): Promise<Installation> {
  const { url } = opened.use(await createMigratedDatabase())
  const masterKeyFile = path.join(path.dirname(dataDir), 'master.key')
  const settings = { DATABASE_URL: url, MASTER_KEY_FILE: masterKeyFile, DATA_DIR: dataDir }
  // The proxy checks the readiness of the servers.
  const fallback = () => ({ status: 200, body: {} })
  const options = { dataDir, environment: settings, fallback, ...(onAnalyze && { onAnalyze }) }
  return { gallery: opened.use(await startGallery(options)), url, settings }
}

async function createInstallations(
  opened: AsyncDisposableStack,
  onAnalyze?: () => Promise<unknown>,
) {
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-account-move-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const a = await startInstallation(opened, path.join(root, 'a'), onAnalyze)
  const b = await startInstallation(opened, path.join(root, 'b'))
  return { a, b }
}

/** The map of the proxy: the keys of both installations. */
async function routesOf(a: Installation, b: Installation): Promise<string> {
  const of = ({ settings }: Installation, name: string) =>
    cliOutput(['key', 'routes', '--to', name], settings)
  return (await of(a, 'a')) + (await of(b, 'b'))
}

async function accountIdOf(gallery: TestGallery, projectId: string): Promise<string> {
  const { db } = gallery.database.store
  const query = db.selectFrom('projects').select('accountId').where('projectId', '=', projectId)
  return (await query.executeTakeFirstOrThrow()).accountId
}

/** Responses that a move must not change; the calls are charged. */
async function recordResponses(client: GalleryClient): Promise<unknown> {
  const identify = (name: string) =>
    client.value('svc.identify', { ...imageParams({ name, deviation: 0.3 }), maxCandidates: 5 })
  return {
    matches: await Promise.all(['Ada', 'Ben', 'Gone', 'unknown'].map(identify)),
    lists: await Promise.all(
      ['/v1/subjects?groups=staff', '/v1/groups', '/v1/deletions'].map(
        async (route) => (await client.rest('GET', route)).body,
      ),
    ),
  }
}

async function countRows({ gallery }: Installation, accountId: string): Promise<number> {
  const { db } = gallery.database.store
  const on = runnerOf(db)
  const ids = await readAccountIds(on, accountId)
  let rows = 0
  for (const { name, column } of accountTables) {
    const condition = ownedBy(ids, column) ?? 'false'
    const { rows: found } = await on.run({
      text: `select count(*) as count from "${name}" where ${condition}`,
    })
    rows += Number(found[0]?.['count'])
  }
  return rows
}

test('Every table with row-level security belongs to the tables of a move', async (t) => {
  if (postgresSkipReason !== undefined) return t.skip(postgresSkipReason)
  await using database = await createMigratedDatabase()
  const rows = await queryAllAccounts(
    database.url,
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition
       and relrowsecurity and relnamespace = current_schema()::regnamespace`,
  )
  // Applied removals belong to servers, and the records of moves stay where they are.
  const others = ['appliedRemovals', 'accountMoves']
  assert.deepEqual(
    rows.map(({ name }) => String(name)).toSorted(),
    [...accountTables.map(({ name }) => name), ...others].toSorted(),
  )
})

const skip = postgresSkipReason ?? haproxySkipReason ?? false

/** Two installations behind the proxy. An account with two projects is in the first one. */
async function startRouted(opened: AsyncDisposableStack) {
  const { a, b } = await createInstallations(opened)
  const isolated = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
  const accountId = await accountIdOf(a.gallery, isolated.project.projectId)
  const shared = await a.gallery.createProjectClient({ galleryMode: 'shared', accountId })
  await addSameUser(a, accountId)
  await addSameUser(b, await accountIdOf(b.gallery, await firstProjectId(b)))
  const proxy = opened.use(
    await startHaProxy({
      a: a.gallery.url,
      b: b.gallery.url,
      keys: await routesOf(a, b),
      hosts: 'b.example.org b\n',
    }),
  )
  const through = ({ key }: { readonly key: string }) =>
    createGalleryClient(createTestClient(proxy.url, key))
  return {
    a,
    b,
    proxy,
    accountId,
    projectId: isolated.project.projectId,
    isolated: through(isolated),
    shared: through(shared),
    ofA: through(a.gallery),
    ofB: through(b.gallery),
    command: ['account', 'move', accountId, '--to', b.url],
  }
}

type Routed = Awaited<ReturnType<typeof startRouted>>

test('Keys are routed to two databases by the documented proxy', { skip }, async () => {
  await using opened = new AsyncDisposableStack()
  const { a, b, proxy, ofA, ofB } = await startRouted(opened)
  const { subjectId } = await ofA.value('svc.enroll', imageParams('Ada'))
  const found = await a.gallery.value('svc.identify', imageParams('Ada'))
  assert.equal(found.bestMatch.subjectId, subjectId)
  assert.equal((await ofB.value('svc.identify', imageParams('Ada'))).bestMatch, null)
  const statusOf = (headers: Readonly<Record<string, string>>) => executeStatus(proxy.url, headers)
  assert.equal(await statusOf({ authorization: `Bearer ${b.gallery.key}` }), 200)
  assert.equal(await statusOf({}), 401)
  // A key that is newer than the map: only the host name leads to its installation.
  const create = ['key', 'create', '--project', await firstProjectId(b), '--json']
  const { key } = JSON.parse(await cliOutput(create, b.settings))
  assert.equal(await statusOf({ 'x-api-key': key }), 401)
  assert.equal(await statusOf({ 'x-api-key': key, host: 'b.example.org:8443' }), 200)
  await proxy.routeKeys(await routesOf(a, b))
  await waitUntil(async () => (await statusOf({ 'x-api-key': key })) === 200)
  for (const route of ['/healthz', '/readyz', '/metrics'])
    assert.equal((await fetch(`${proxy.url}${route}`)).status, 404)
})

test(
  'An account moves under traffic, also after kills, without a lost or doubled call',
  { skip },
  async (t) => {
    await using opened = new AsyncDisposableStack()
    const routed = await startRouted(opened)
    const { a, b, accountId, shared, isolated, command } = routed
    const before = await enrollSamples(routed)
    const completed = {
      action: 'svc.identify',
      params: imageParams('Ben'),
      requestId: randomUUID(),
    }
    const first = await isolated.post(completed)
    const traffic = startTraffic(routed.proxy.url, isolated.key, {
      clients: 3,
      nextCall: mixedCalls(),
    })
    await waitUntil(async () => traffic.acknowledged.length > 10)

    await killWhileCopying(routed)
    await assertFrozen(routed)
    await cliOutput([...command, '--cancel'], a.settings)
    await isolated.value('svc.detect', imageParams('Ada'))
    await killWhileCopying(routed)
    const { summary } = JSON.parse(await cliOutput([...command, '--json'], a.settings))
    assert.deepEqual(summary.renamedUsers, ['Olga-2'])
    assert.ok(summary.decryptedTemplates > 3)
    await assertCompleted(routed)
    const count = traffic.acknowledged.length
    await routed.proxy.routeKeys(await routesOf(a, b))
    await waitUntil(async () => traffic.acknowledged.length > count + 10)
    await traffic.stop()
    const tries = [...traffic.failures].map(([status, failed]) => `${failed} tries with ${status}`)
    t.diagnostic(
      `${traffic.acknowledged.length} calls; ${tries.join(', ')}; ${summary.frozenMs} ms`,
    )

    assert.deepEqual(traffic.problems, [])
    assert.ok((traffic.failures.get(503) ?? 0) > 0)
    assert.deepEqual(await recordResponses(shared), before)
    const replay = await isolated.post(completed)
    assert.equal(replay.body.meta.idempotencyReplay, true)
    assert.deepEqual(replay.body.data, first.body.data)
    await assertAllCallsExist(routed, traffic.acknowledged)
    for (const { gallery } of [a, b]) await assertLedgerAudit(gallery)
    await assertSeparated(b, accountId)
    await assertRemoved(routed, completed)
  },
)

/** @returns the responses that must not change. Deletions and groups are part of them. */
async function enrollSamples({ shared, isolated }: Routed): Promise<unknown> {
  const names = { externalId: 'ada', groups: ['staff'], attributes: { level: 3 } }
  await shared.value('svc.enroll', { ...imageParams('Ada'), ...names })
  const gone = await shared.value('svc.enroll', { ...imageParams('Gone'), externalId: 'gone' })
  await shared.value('svc.deleteSubject', { subjectId: gone.subjectId })
  await isolated.value('svc.enroll', imageParams('Ben'))
  return recordResponses(shared)
}

/** Returns a function that returns searches, and an enrollment at every fourth call. */
function mixedCalls(): () => TrafficCall {
  let number = 0
  return () => {
    number += 1
    const externalId = `person ${number}`
    return number % 4 === 0
      ? { action: 'svc.enroll', params: { ...imageParams(externalId), externalId } }
      : { action: 'svc.identify', params: imageParams('Ben') }
  }
}

/** Calls of the account return 503, and the target contains nothing of it. */
async function assertFrozen({ b, accountId, isolated, ofA }: Routed): Promise<void> {
  assert.equal(await countRows(b, accountId), 0)
  const rejected = await isolated.call('svc.detect', imageParams('Ada'))
  assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [503, '2'])
  assert.equal((await isolated.rest('GET', '/v1/subjects')).status, 503)
  await ofA.value('svc.detect', imageParams('Ada'))
}

/** The old installation rejects the calls until its copy is removed, and the move cannot be cancelled. */
async function assertCompleted({ a, isolated, command }: Routed): Promise<void> {
  const { err } = await runCli([...command, '--cancel'], a.settings)
  assert.match(err, /already contains the account/u)
  const old = createGalleryClient(createTestClient(a.gallery.url, isolated.key))
  assert.equal((await old.call('svc.detect', imageParams('Ada'))).status, 503)
  assert.match(await cliOutput(['account', 'list'], a.settings), /moved to/u)
  assert.match(await cliOutput(command, a.settings), /is in/u)
}

/** Every acknowledged call was charged once, and every enrolled subject is found. */
async function assertAllCallsExist(
  { b, projectId, isolated }: Routed,
  acknowledged: readonly AcknowledgedCall[],
): Promise<void> {
  const charges = await queryAllAccounts(
    b.url,
    `select "requestId", count(*)::integer as count from "ledgerTransfers"
     where kind = 'charge' and "projectId" = '${projectId}' group by 1`,
  )
  const counts = new Map(charges.map(({ requestId, count }) => [requestId, count]))
  assert.deepEqual(
    acknowledged.filter(({ requestId }) => counts.get(requestId) !== 1),
    [],
  )
  const [log] = await queryAllAccounts(
    b.url,
    `select count(*)::integer as count from calls
     where "projectId" = '${projectId}' and "transferId" is not null`,
  )
  assert.equal(log?.['count'], charges.length, 'every charge has one row in the log')
  const enrolled = acknowledged.flatMap(({ params: { externalId } }) => externalId ?? [])
  const found = await Promise.all(
    enrolled.map(
      async (name) => (await isolated.value('svc.identify', imageParams(name))).bestMatch,
    ),
  )
  assert.ok(enrolled.length > 3)
  assert.deepEqual(
    found.map((match) => match?.externalId),
    enrolled,
  )
}

/** After its removal, the old database has no row of the account, and serves the others. */
async function assertRemoved(
  { a, b, accountId, isolated, ofA }: Routed,
  call: object,
): Promise<void> {
  await cliOutput(['account', 'remove', accountId], a.settings)
  assert.equal(await countRows(a, accountId), 0)
  assert.equal((await createTestClient(a.gallery.url, isolated.key).post(call)).status, 401)
  await ofA.value('svc.enroll', imageParams('Dan'))
  for (const { gallery } of [a, b]) await assertLedgerAudit(gallery)
  const actsIn = async ({ url }: Installation) => {
    const text = `select act from "adminActs"
      where target = '${accountId}' and act like 'account.%' order by "auditId"`
    return (await queryAllAccounts(url, text)).map(({ act }) => act)
  }
  assert.deepEqual(await actsIn(a), ['account.remove'])
  assert.deepEqual(await actsIn(b), ['account.move', 'account.cancelMove', 'account.move'])
}

async function firstProjectId({ gallery }: Installation): Promise<string> {
  const query = gallery.database.store.db.selectFrom('projects').select('projectId')
  return (await query.orderBy('createdAtUtc').executeTakeFirstOrThrow()).projectId
}

async function addSameUser({ gallery }: Installation, accountId: string): Promise<void> {
  const user = {
    userId: randomUUID(),
    accountId,
    name: 'Olga',
    role: 'owner' as const,
    password: null,
  }
  const times = { createdAtUtc: new Date().toISOString(), lastSeenAtUtc: null, disabledAtUtc: null }
  await gallery.database.store.write((tx) => addUser(tx, { ...user, ...times }))
}

/** Sends a call with these headers; `fetch` would not send another host name. */
async function executeStatus(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  const sent = request(`${url}/v1/face/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  })
  sent.end(JSON.stringify({ action: 'svc.detect', params: imageParams('Ada') }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** Kills a move that waits for a lock of the target after it has copied rows. */
async function killWhileCopying({ a, b, command }: Routed): Promise<void> {
  await using _lock = await holdLock(b.url, 'lock table templates in access exclusive mode')
  await killWhen(startCli(command, a.settings), async () => {
    const waiting = await queryAllAccounts(
      b.url,
      `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like 'insert into "templates"%'`,
    )
    return waiting.length > 0
  })
}

/** In the scope of the account, only its rows are visible, and in that of the other account none. */
async function assertSeparated(installation: Installation, accountId: string): Promise<void> {
  const { store } = installation.gallery.database
  const otherId = await accountIdOf(installation.gallery, await firstProjectId(installation))
  assert.notEqual(otherId, accountId, 'the account of the target stays the oldest one')
  const owners = async (scope: string) =>
    runAsAccount(scope, () =>
      installation.gallery.database.store.read(({ build, run }) =>
        run(build.selectFrom('projects').select('accountId').distinct()),
      ),
    )
  assert.ok(store.isShared)
  assert.deepEqual(await owners(otherId), [{ accountId: otherId }])
  assert.deepEqual(await owners(accountId), [{ accountId }])
}

/** 100,000 in the measurement of docs/operations/several-databases.md. */
const subjects = Number(process.env['MOVE_SUBJECTS'] ?? 0)
const subjectsPerTransaction = 250
const dimensions = 256

async function fillGallery({ gallery, settings }: Installation, project: Project): Promise<void> {
  const dataDir = path.dirname(settings['MASTER_KEY_FILE'] ?? '')
  for (let from = 0; from < subjects; from += subjectsPerTransaction) {
    const people = Array.from({ length: subjectsPerTransaction }, (_, index) => {
      const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
      const template = { modelId: 'people@1', vector, density: 0 }
      return { externalId: `filled ${from + index}`, groups: ['all'], templates: [template] }
    })
    await fillTemplates({ dataDir, database: gallery.database }, project, people)
  }
}

test(
  'A move waits for running calls, and they are charged',
  { skip: postgresSkipReason ?? false },
  async (t) => {
    const waiting = Promise.withResolvers<void>()
    const analyzing = Promise.withResolvers<void>()
    let isHeld = false
    await using opened = new AsyncDisposableStack()
    const { a, b } = await createInstallations(opened, async () => {
      if (!isHeld) return
      analyzing.resolve()
      await waiting.promise
    })
    const client = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
    const accountId = await accountIdOf(a.gallery, client.project.projectId)
    await fillGallery(a, client.project)
    isHeld = true
    const requestId = randomUUID()
    const running = client.call('svc.detect', imageParams('Ada'), { requestId })
    await analyzing.promise
    isHeld = false
    const command = startCli(['account', 'move', accountId, '--to', b.url], a.settings)
    await waitUntil(
      async () => (await client.call('svc.detect', imageParams('Ada'))).status === 503,
    )
    assert.equal(await countRows(b, accountId), 0)
    waiting.resolve()
    const response = await running
    assert.equal(response.body.ok, true, JSON.stringify(response.body))
    const { code, out, err } = await command.result
    assert.equal(code, 0, err)
    t.diagnostic(/^\d+ rows .*$/mu.exec(out)?.[0] ?? '')
    const [charge] = await queryAllAccounts(
      b.url,
      `select count(*)::integer as count from "ledgerTransfers"
       where "requestId" = '${requestId}'`,
    )
    assert.equal(charge?.['count'], 1)
    const missing = await runCli(['account', 'move', 'none', '--to', b.url], a.settings)
    assert.match(missing.err, /there is no account none/u)
    const notMoved = await runCli(['account', 'remove', 'default'], a.settings)
    assert.match(notMoved.err, /was not moved/u)
  },
)
