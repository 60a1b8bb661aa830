import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { accountTables } from '../../src/store/sqlite-to-postgres/tables.ts'
import { runAsAccount } from '../../src/lib/account-context.ts'
import { addPage, countPages } from '../support/bulk/gallery-pages.ts'
import { cliOutput, runCli, startCli } from '../support/cli/run-cli.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { createTestClient } from '../support/facegate/test-client.ts'
import {
  createGalleryClient,
  imageParams,
  type GalleryClient,
} from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { queryAllAccounts, waitUntil } from '../support/migration/run-migration.ts'
import { haproxySkipReason } from '../support/network/haproxy.ts'
import {
  startTraffic,
  type AcknowledgedCall,
  mixedCalls,
} from '../support/nodes/retrying-traffic.ts'
import {
  accountIdOf,
  certifyDeletion,
  countRows,
  createInstallations,
  executeStatus,
  fillAccount,
  firstProjectId,
  killWhileCopying,
  routesOf,
  startRouted,
  type RoutedSites,
  type TestSite,
} from '../support/nodes/two-installations.ts'

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
    await addPage(a.gallery.database.store, accountId)
    const certificate = await certifyDeletion(opened, routed)
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
    opened.defer(() => traffic.stop())
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
    const verified = await cliOutput(['deletions', 'verify', certificate], b.settings)
    assert.match(verified, /^valid: .*\nthe ledger contains this record/u)
    for (const [{ gallery }, pages] of [
      [a, 1],
      [b, 0],
    ] as const)
      assert.equal(await countPages(gallery.database.store, accountId), pages, 'not copied')
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
async function enrollSamples({ shared, isolated }: RoutedSites): Promise<unknown> {
  const names = { externalId: 'ada', groups: ['staff'], attributes: { level: 3 } }
  await shared.value('svc.enroll', { ...imageParams('Ada'), ...names })
  const gone = await shared.value('svc.enroll', { ...imageParams('Gone'), externalId: 'gone' })
  await shared.value('svc.deleteSubject', { subjectId: gone.subjectId })
  await isolated.value('svc.enroll', imageParams('Ben'))
  return recordResponses(shared)
}

/** Calls of the account return 503, and the target contains nothing of it. */
async function assertFrozen({ b, accountId, isolated, ofA }: RoutedSites): Promise<void> {
  assert.equal(await countRows(b, accountId), 0)
  const rejected = await isolated.call('svc.detect', imageParams('Ada'))
  assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [503, '2'])
  assert.equal((await isolated.rest('GET', '/v1/subjects')).status, 503)
  await ofA.value('svc.detect', imageParams('Ada'))
}

/** The old installation rejects the calls until its copy is removed, and the move cannot be cancelled. */
async function assertCompleted({ a, isolated, command }: RoutedSites): Promise<void> {
  const { err } = await runCli([...command, '--cancel'], a.settings)
  assert.match(err, /already contains the account/u)
  const old = createGalleryClient(createTestClient(a.gallery.url, isolated.key))
  assert.equal((await old.call('svc.detect', imageParams('Ada'))).status, 503)
  assert.match(await cliOutput(['account', 'list'], a.settings), /moved to/u)
  assert.match(await cliOutput(command, a.settings), /is in/u)
}

/** Every acknowledged call was charged once, and every enrolled subject is found. */
async function assertAllCallsExist(
  { b, projectId, isolated }: RoutedSites,
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
  { a, b, accountId, isolated, ofA }: RoutedSites,
  call: object,
): Promise<void> {
  await cliOutput(['account', 'remove', accountId], a.settings)
  assert.equal(await countRows(a, accountId), 0)
  assert.equal((await createTestClient(a.gallery.url, isolated.key).post(call)).status, 401)
  await ofA.value('svc.enroll', imageParams('Dan'))
  for (const { gallery } of [a, b]) await assertLedgerAudit(gallery)
  const actsIn = async ({ url }: TestSite) => {
    const text = `select "auditAction" from "auditLog"
      where target = '${accountId}' and "auditAction" like 'account.%' order by "auditId"`
    return (await queryAllAccounts(url, text)).map(({ auditAction }) => auditAction)
  }
  assert.deepEqual(await actsIn(a), ['account.remove'])
  assert.deepEqual(await actsIn(b), ['account.move', 'account.cancelMove', 'account.move'])
}

/** In the scope of the account, only its rows are visible, and in that of the other account none. */
async function assertSeparated(installation: TestSite, accountId: string): Promise<void> {
  const otherId = await accountIdOf(installation.gallery, await firstProjectId(installation))
  assert.notEqual(otherId, accountId, 'the account of the target stays the oldest one')
  const { db } = installation.gallery.database.store
  const query = db.selectFrom('projects').select('accountId').distinct()
  const owners = (scope: string) => runAsAccount(scope, () => query.execute())
  assert.deepEqual(await owners(otherId), [{ accountId: otherId }])
  assert.deepEqual(await owners(accountId), [{ accountId }])
}

/** 20,000 in the measurement of docs/operations/several-databases.md. */
const subjects = Number(process.env['MOVE_SUBJECTS'] ?? 0)

test(
  'A move waits for running calls, and they are charged; the target may search in the database',
  { skip: postgresSkipReason ?? false },
  async (t) => {
    const waiting = Promise.withResolvers<void>()
    const analyzing = Promise.withResolvers<void>()
    let isHeld = false
    await using opened = new AsyncDisposableStack()
    const { a, b } = await createInstallations(opened, {
      a: {
        onAnalyze: async () => {
          if (!isHeld) return
          analyzing.resolve()
          await waiting.promise
        },
      },
      b: { search: 'pgvector' },
    })
    const client = await a.gallery.createProjectClient({ galleryMode: 'isolated' })
    const accountId = await accountIdOf(a.gallery, client.project.projectId)
    await fillAccount(a, client.project, subjects)
    const { subjectId } = await client.value('svc.enroll', imageParams('Ada'))
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
    const moved = b.gallery.withKey(client.key)
    const { bestMatch } = await moved.value('svc.identify', imageParams('Ada'))
    assert.equal(bestMatch.subjectId, subjectId)
    assert.match((await runCli(['key', 'rotate-master'], a.settings)).err, /is frozen by its move/u)
    const notMoved = await runCli(['account', 'remove', 'default'], a.settings)
    assert.match(notMoved.err, /was not moved/u)
  },
)
