import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
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
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { createTestClient } from '../support/facegate/test-client.ts'
import {
  holdLock,
  killWhen,
  queryAllAccounts,
  waitUntil,
} from '../support/migration/run-migration.ts'
import { haproxySkipReason, startHaProxy } from '../support/network/haproxy.ts'
import { startTraffic } from '../support/nodes/retrying-traffic.ts'

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
  const options = { dataDir, environment: settings, ...(onAnalyze && { onAnalyze }) }
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

const routesOf = ({ settings }: Installation, to: string) =>
  cliOutput(['key', 'routes', '--to', to], settings)

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
        async (route) => (await client.rest('GET', route)).body.data ?? route,
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

test(
  'Keys are routed to two databases, and an account moves under traffic, kills included',
  { skip },
  async (t) => {
    await using opened = new AsyncDisposableStack()
    const { a, b } = await createInstallations(opened)
    const isolated = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
    const accountId = await accountIdOf(a.gallery, isolated.project.projectId)
    const shared = await a.gallery.createProjectClient({ galleryMode: 'shared', accountId })
    const wallet = await queryAllAccounts(
      a.url,
      `select 1 from ledgers where "accountId" = '${accountId}'`,
    )
    assert.equal(wallet.length, 3)
    await addSameUser(a, accountId)
    await addSameUser(b, await accountIdOf(b.gallery, await firstProjectId(b)))

    const proxy = opened.use(
      await startHaProxy({
        a: a.gallery.url,
        b: b.gallery.url,
        keys: (await routesOf(a, 'a')) + (await routesOf(b, 'b')),
        hosts: 'b.example.org b\n',
      }),
    )
    const through = (key: string) => createGalleryClient(createTestClient(proxy.url, key))
    const [moved, movedShared, stayed, other] = [
      through(isolated.key),
      through(shared.key),
      through(a.gallery.key),
      through(b.gallery.key),
    ]
    await assertRouting(a, b, { stayed, other, url: proxy.url })

    const ada = {
      ...imageParams('Ada'),
      externalId: 'ada',
      groups: ['staff'],
      attributes: { level: 3 },
    }
    await moved.value('svc.enroll', ada)
    await moved.value('svc.enroll', { ...imageParams('Ben'), groups: ['staff'] })
    const gone = await moved.value('svc.enroll', { ...imageParams('Gone'), externalId: 'gone' })
    await moved.value('svc.deleteSubject', { subjectId: gone.subjectId })
    await movedShared.value('svc.enroll', imageParams('Yan'))
    const before = await recordResponses(moved)
    const completed = {
      action: 'svc.identify',
      params: imageParams('Ada'),
      requestId: randomUUID(),
    }
    const first = await moved.post(completed)

    let number = 0
    const traffic = startTraffic(proxy.url, isolated.key, {
      clients: 3,
      nextCall: () =>
        ++number % 4 === 0
          ? {
              action: 'svc.enroll',
              params: { ...imageParams(`Person ${number}`), externalId: `p${number}` },
            }
          : { action: 'svc.identify', params: imageParams('Ben') },
    })
    const command = ['account', 'move', accountId, '--to', b.url]
    await waitUntil(async () => traffic.acknowledged.length > 10)

    await killWhileCopying(a, b, command)
    assert.equal(await countRows(b, accountId), 0)
    const rejected = await moved.call('svc.detect', imageParams('Ada'))
    assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [503, '2'])
    await stayed.value('svc.detect', imageParams('Ada'))
    await cliOutput([...command, '--cancel'], a.settings)
    await moved.value('svc.detect', imageParams('Ada'))

    await killWhileCopying(a, b, command)
    const result = JSON.parse(await cliOutput([...command, '--json'], a.settings))
    assert.deepEqual(result.summary.renamedUsers, ['Olga-2'])
    assert.ok(result.summary.decryptedTemplates > 3)
    const onlyHere = await runCli([...command, '--cancel'], a.settings)
    assert.match(onlyHere.err, /already contains the account/u)
    assert.equal(
      (
        await createGalleryClient(createTestClient(a.gallery.url, isolated.key)).call(
          'svc.detect',
          imageParams('Ada'),
        )
      ).status,
      503,
    )
    const acknowledgedBefore = traffic.acknowledged.length
    await proxy.routeKeys((await routesOf(a, 'a')) + (await routesOf(b, 'b')))
    await waitUntil(async () => traffic.acknowledged.length > acknowledgedBefore + 10)
    await traffic.stop()
    t.diagnostic(
      `${traffic.acknowledged.length} calls, ${[...traffic.failures].map(([status, count]) => `${count} tries with ${status}`).join(', ')}; ` +
        `rejected for ${(result.summary.frozenMs / 1000).toFixed(1)} s`,
    )

    assert.deepEqual(traffic.problems, [])
    assert.ok((traffic.failures.get(503) ?? 0) > 0)
    assert.deepEqual(await recordResponses(moved), before)
    assert.equal(
      (await movedShared.value('svc.identify', imageParams('Yan'))).bestMatch !== null,
      true,
    )
    const replay = await moved.post(completed)
    assert.equal(replay.body.meta.idempotencyReplay, true)
    assert.deepEqual(replay.body.data, first.body.data)
    await assertChargedOnce(
      b,
      isolated.project.projectId,
      traffic.acknowledged.map(({ requestId }) => requestId),
    )
    const enrolled = traffic.acknowledged.filter(({ body }) =>
      JSON.stringify(body).includes('svc.enroll'),
    )
    const found = await Promise.all(
      enrolled.map(
        async ({ body }) =>
          (await moved.value('svc.identify', (body as { params: object }).params && imagesOf(body)))
            .bestMatch?.externalId,
      ),
    )
    assert.deepEqual(
      found,
      enrolled.map(({ body }) => (body as { params: { externalId: string } }).params.externalId),
    )

    for (const { gallery } of [a, b]) await assertLedgerAudit(gallery)
    assert.match(await cliOutput(['account', 'list'], a.settings), /moved to/u)
    assert.match(await cliOutput(command, a.settings), /is in/u)
    await assertSeparated(b, accountId)
    await cliOutput(['account', 'remove', accountId], a.settings)
    assert.equal(await countRows(a, accountId), 0)
    const unknown = await createTestClient(a.gallery.url, isolated.key).post(completed)
    assert.equal(unknown.status, 401)
    await stayed.value('svc.enroll', imageParams('Dan'))
    for (const { gallery } of [a, b]) await assertLedgerAudit(gallery)
    await assertAuditEntries(a, b, accountId)
  },
)

function imagesOf(body: object): object {
  const { params } = body as { params: { images: unknown } }
  return { images: params.images }
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

/** Calls reach the installation of their key; other requests that of their host. */
async function assertRouting(
  a: Installation,
  b: Installation,
  { stayed, other, url }: { stayed: GalleryClient; other: GalleryClient; url: string },
): Promise<void> {
  const { subjectId } = await stayed.value('svc.enroll', imageParams('Only in A'))
  assert.equal(
    (await a.gallery.value('svc.identify', imageParams('Only in A'))).bestMatch.subjectId,
    subjectId,
  )
  assert.equal((await other.value('svc.identify', imageParams('Only in A'))).bestMatch, null)
  const call = { action: 'svc.detect', params: imageParams('Only in A') }
  const bearer = { 'x-api-key': '', authorization: `Bearer ${b.gallery.key}` }
  const execute = (headers: Record<string, string>) =>
    fetch(`${url}/v1/face/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(call),
    })
  const { authorization } = bearer
  assert.equal((await execute({ authorization })).status, 200)
  assert.equal((await execute({})).status, 401)
  // A key that is newer than the map: only the host name leads to its installation.
  const created = JSON.parse(
    await cliOutput(['key', 'create', '--project', await firstProjectId(b), '--json'], b.settings),
  )
  assert.equal((await execute({ 'x-api-key': created.key })).status, 401)
  const host = new URL(url).port
  assert.equal(await statusWithHost(url, `b.example.org:${host}`, created.key, call), 200)
  for (const route of ['/healthz', '/readyz', '/metrics'])
    assert.equal((await fetch(`${url}${route}`)).status, 404)
}

/** `fetch` does not send another host name. */
async function statusWithHost(
  url: string,
  host: string,
  key: string,
  call: object,
): Promise<number> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/v1/face/execute`,
      { method: 'POST', headers: { host, 'x-api-key': key, 'content-type': 'application/json' } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(call))
  })
}

/** Kills a move that waits for a lock of the target after it has copied rows. */
async function killWhileCopying(
  a: Installation,
  b: Installation,
  command: readonly string[],
): Promise<void> {
  await using _lock = await holdLock(b.url, 'lock table templates in access exclusive mode')
  await killWhen(startCli(command, a.settings), async () => {
    const rows = await queryAllAccounts(
      b.url,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and query like 'insert into "templates"%'`,
    )
    return rows.length > 0
  })
}

async function assertChargedOnce(
  { url }: Installation,
  projectId: string,
  requestIds: readonly string[],
): Promise<void> {
  const charges = await queryAllAccounts(
    url,
    `select "requestId", count(*)::integer as count from "ledgerTransfers"
     where kind = 'charge' and "projectId" = '${projectId}' group by 1`,
  )
  const counts = new Map(charges.map(({ requestId, count }) => [requestId, count]))
  assert.deepEqual(
    requestIds.filter((id) => counts.get(id) !== 1),
    [],
  )
  const log = await queryAllAccounts(
    url,
    `select count(*)::integer as count from calls where "projectId" = '${projectId}' and "transferId" is not null`,
  )
  assert.equal(log[0]?.['count'], charges.length, 'every charge has one row in the log')
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

async function assertAuditEntries(
  a: Installation,
  b: Installation,
  accountId: string,
): Promise<void> {
  const actsIn = async ({ url }: Installation) =>
    (
      await queryAllAccounts(
        url,
        `select act from "adminActs" where target = '${accountId}' and act like 'account.%' order by "auditId"`,
      )
    ).map(({ act }) => act)
  assert.deepEqual(await actsIn(a), ['account.remove'])
  assert.deepEqual(await actsIn(b), ['account.move', 'account.cancelMove', 'account.move'])
}

test(
  'A move waits for running calls, and they are charged',
  { skip: postgresSkipReason ?? false },
  async () => {
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
    isHeld = true
    const running = client.call('svc.detect', imageParams('Ada'), { requestId: randomUUID() })
    await analyzing.promise
    const command = startCli(['account', 'move', accountId, '--to', b.url], a.settings)
    await waitUntil(
      async () => (await client.call('svc.detect', imageParams('Ada'))).status === 503,
    )
    assert.equal(await countRows(b, accountId), 0)
    waiting.resolve()
    const response = await running
    assert.equal(response.body.ok, true, JSON.stringify(response.body))
    const { code, err } = await command.result
    assert.equal(code, 0, err)
    const [charge] = await queryAllAccounts(
      b.url,
      `select count(*)::integer as count from "ledgerTransfers" where kind = 'charge'`,
    )
    assert.equal(charge?.['count'], 1)
    const missing = await runCli(['account', 'move', 'none', '--to', b.url], a.settings)
    assert.match(missing.err, /there is no account none/u)
    const notMoved = await runCli(['account', 'remove', 'default'], a.settings)
    assert.match(notMoved.err, /was not moved/u)
  },
)
