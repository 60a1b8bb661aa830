import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { Client } from 'pg'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { openDatabaseProxy, type DatabaseProxy } from '../../support/network/database-proxy.ts'

const skip = postgresSkipReason ?? false

/** Two services on one database. The connection of `a` can be cut. */
type Pair = AsyncDisposable & {
  readonly proxy: DatabaseProxy
  readonly a: TestGallery
  readonly b: TestGallery
  /** Stops `b` and starts it again. */
  readonly restartB: () => Promise<TestGallery>
  readonly query: (text: string) => Promise<readonly Record<string, unknown>[]>
}

async function startPair(): Promise<Pair> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createMigratedDatabase())
  const proxy = opened.use(await openDatabaseProxy(database.url))
  const root = await mkdtemp(path.join(tmpdir(), 'facegate-removals-'))
  opened.defer(() => rm(root, { recursive: true, force: true }))
  const start = (name: string, url: string, key?: string): Promise<TestGallery> =>
    startGallery({
      dataDir: path.join(root, name),
      key,
      environment: { DATABASE_URL: url, MASTER_KEY_FILE: path.join(root, 'master.key') },
    })
  const a = opened.use(await start('a', proxy.url))
  let b = await start('b', database.url, a.key)
  opened.defer(() => b[Symbol.asyncDispose]())
  const client = new Client({ connectionString: database.url })
  await client.connect()
  opened.defer(() => client.end())
  await client.query(`set "facegate.account" = '*'`)
  const resources = opened.move()
  return {
    proxy,
    a,
    b,
    restartB: async () => {
      await b[Symbol.asyncDispose]()
      b = await start('b', database.url, a.key)
      return b
    },
    query: async (text) => (await client.query(text)).rows,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Enrolls a subject with a second face and returns that face. */
async function enrollTwoFaces({ value }: TestGallery, kept: string, other: string) {
  const { subjectId } = await value('svc.enroll', imageParams(kept))
  const params = { ...imageParams(other), subjectId, force: true, duplicateCheck: 'off' }
  const { faceId } = await value('svc.enroll', params)
  return { subjectId, faceId }
}

async function matchOf({ value }: TestGallery, name: string): Promise<string | undefined> {
  return (await value('svc.identify', imageParams(name))).bestMatch?.subjectId
}

/** Waits until a condition holds. The test fails if it never does. */
async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const toMs = performance.now() + 60_000; performance.now() < toMs; await sleep(50))
    if (await condition()) return
  assert.fail(`${what} within 60 s`)
}

/** Repeats a search until the server has its database again. */
async function firstMatchAfterOutage({ call }: TestGallery, name: string) {
  for (;;) {
    const { status, body } = await call('svc.identify', imageParams(name))
    if (status === 200) return body.data.results[0].value.bestMatch?.subjectId
    assert.equal(status, 503)
    await sleep(50)
  }
}

test(
  'A removed template does not match on a server without a connection during a restart of the other',
  { skip },
  async () => {
    await using pair = await startPair()
    const { a, b, proxy } = pair
    const { subjectId, faceId } = await enrollTwoFaces(b, 'Kept', 'Removed')
    assert.equal(await matchOf(a, 'Removed'), subjectId)
    proxy.disconnect()
    await b.value('svc.updateSubject', { subjectId, removeFaceIds: [faceId] })
    await pair.restartB()
    proxy.reconnect()
    assert.equal(await firstMatchAfterOutage(a, 'Removed'), undefined)
    assert.equal(await matchOf(a, 'Kept'), subjectId)
  },
)

test(
  'A server whose heartbeat lapsed reloads its galleries before it answers a search',
  { skip },
  async () => {
    await using pair = await startPair()
    const { a, b, proxy, query } = pair
    const { subjectId, faceId } = await enrollTwoFaces(b, 'Kept', 'Removed')
    const other = await b.value('svc.enroll', imageParams('Other'))
    assert.equal(await matchOf(a, 'Removed'), subjectId)
    proxy.disconnect()
    await b.value('svc.updateSubject', { subjectId, removeFaceIds: [faceId] })
    const [row] = await query('select count(*)::int as count from removals')
    assert.equal(row?.['count'], 1, 'the record is kept for the server without a connection')
    // The oldest server is a. By the clock of the database it was seen 20 s ago.
    await query(`update nodes set "dbUs" = "dbUs" - 20000000
      where "nodeId" = (select "nodeId" from nodes order by "startedAtUtc" limit 1)`)
    const isForgotten = async () => (await query('select from removals')).length === 0
    await until(isForgotten, 'a record that all running servers have applied is deleted')
    proxy.reconnect()
    assert.equal(await firstMatchAfterOutage(a, 'Removed'), undefined)
    assert.equal(await matchOf(a, 'Kept'), subjectId)
    assert.equal(await matchOf(a, 'Other'), other.subjectId)
  },
)

test(
  'A deleted template leaves the memory of the other server without a search there, and its record is deleted',
  { skip },
  async () => {
    await using pair = await startPair()
    const { a, b, query } = pair
    const { subjectId } = await b.value('svc.enroll', imageParams('Deleted'))
    assert.equal(await matchOf(a, 'Deleted'), subjectId)
    assert.equal(a.openedGallery.searchStats().rows, 1)
    await b.value('svc.deleteSubject', { subjectId })
    await until(() => a.openedGallery.searchStats().rows === 0, 'the template is removed')
    const isForgotten = async () => (await query('select from removals')).length === 0
    await until(isForgotten, 'the record of the removal is deleted')
  },
)
