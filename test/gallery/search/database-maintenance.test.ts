import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gallery } from '../../../src/gallery/gallery.ts'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { openVectorMaintenance } from '../../../src/store/postgres/vectors/vector-maintenance.ts'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import {
  postgresSkipReason,
  sharedPostgresServer,
  runSql,
} from '../../support/database/postgres-server.ts'
import {
  assertFound,
  countRows,
  enrollPeople,
  openSearchPair,
  peopleBetween,
  queryRows,
  silentLog,
  templateOf,
} from '../../support/gallery/search-pair.ts'

const skip = postgresSkipReason ?? false
const neverAborted = new AbortController().signal
/** A minute: the statistics of the server are delayed. */
const triesMax = 600

test(
  'The index finds enrolled subjects with the same scores as in memory; a scan completes narrow searches',
  { skip },
  async () => {
    await using pair = await openSearchPair({ exactMax: 250 })
    const { owner, url, inMemory, inDatabase } = pair
    const { galleryId } = owner
    await enrollPeople(pair, inDatabase, peopleBetween(0, 300))
    await enrollPeople(pair, inDatabase, peopleBetween(300, 320, ['few']))
    await inDatabase.maintenance.maintainSearch(neverAborted)
    await inDatabase.maintenance.maintainSearch(neverAborted)
    assert.equal(await countRows(url, `pg_indexes where indexdef like '%hnsw%'`), 1)
    let correct = 0
    for (let person = 0; person < 50; person++) {
      const probes = [templateOf({ person: person * 6, take: 1 })]
      const found = await inDatabase.matching.search(galleryId, probes, { limit: 5 })
      const expected = await inMemory.matching.search(galleryId, probes, { limit: 320 })
      for (const hit of found) assert.ok(expected.some(({ score }) => score === hit.score))
      if (found[0]?.faceId === expected[0]?.faceId) correct += 1
    }
    assert.ok(correct >= 49, `${correct} of 50 were found`)
    // A connection reports its counts with a later transaction.
    const usedIndexes = `pg_stat_user_indexes where relname like 'vectors_%' and idx_scan >= 40
    and indexrelname like 'vectors%_near_%'`
    for (let tries = 0; (await countRows(url, usedIndexes)) === 0; tries++) {
      assert.ok(tries < triesMax, 'the index was used')
      await sleep(100)
    }
    // Few members of the group are near a probe: the index finds too few, and a scan follows.
    const server = await pair.openServer({ exactMax: 0 })
    for (const person of [300, 310, 319, 5]) {
      const probes = [templateOf({ person, take: 2 })]
      const options = { limit: 20, groups: ['few'] }
      assert.deepEqual(
        await server.matching.search(galleryId, probes, options),
        await inMemory.matching.search(galleryId, probes, options),
      )
    }
  },
)

test('The index leaves out expired subjects and returns the next ones', { skip }, async () => {
  let nowMs = Date.now()
  await using pair = await openSearchPair({ exactMax: 10, clock: () => nowMs })
  const { store, owner, inMemory, inDatabase } = pair
  const people = Array.from({ length: 100 }, (_, index) => ({
    samples: [{ person: 1, take: index + 1, deviation: 0.1 + index / 200 }],
  }))
  const subjects = await enrollPeople(pair, inDatabase, people)
  await inDatabase.maintenance.maintainSearch(neverAborted)
  const probes = [templateOf({ person: 1 })]
  const search = async (gallery: Gallery) =>
    (await gallery.matching.search(owner.galleryId, probes, { limit: 10 })).map(
      ({ subjectId }) => subjectId,
    )
  const idsBefore = await search(inDatabase)
  assert.deepEqual(idsBefore, await search(inMemory))
  const expiresAtUtc = new Date(nowMs + 1000).toISOString()
  await store.write(async (tx) => {
    for (const subject of subjects.slice(0, 60))
      await inDatabase.subjects.update(tx, subject, { expiresAtUtc })
  })
  assert.deepEqual(await search(inDatabase), idsBefore)
  nowMs += 1000
  const ids = await search(inDatabase)
  assert.equal(ids.length, 10)
  assert.deepEqual(ids, await search(inMemory))
  const expired = new Set(subjects.slice(0, 60).map(({ subjectId }) => subjectId))
  assert.ok(ids.every((subjectId) => !expired.has(subjectId)))
})

test('An index whose build was interrupted is built again', { skip }, async () => {
  await using pair = await openSearchPair({ exactMax: 10 })
  const { adminUrl } = await sharedPostgresServer()
  await enrollPeople(pair, pair.inDatabase, peopleBetween(0, 20))
  await pair.inDatabase.maintenance.maintainSearch(neverAborted)
  const admin = new URL(adminUrl)
  admin.pathname = new URL(pair.url).pathname
  const setValid = (valid: boolean) => `update pg_index set indisvalid = ${valid}
    from pg_class where oid = indexrelid and relname like 'vectors%_near_%'`
  await runSql(admin.href, setValid(false))
  await pair.inDatabase.maintenance.maintainSearch(neverAborted)
  assert.equal(await countRows(pair.url, `pg_index where not indisvalid`), 0)
  assert.equal(await countRows(pair.url, `pg_indexes where indexdef like '%hnsw%'`), 1)
})

/** The vectors that represent the templates of their subjects. */
const current = 'vectors where not "isStale"'

test(
  'Missing vectors are created at start and in maintenance; templates without one are found until then',
  { skip },
  async () => {
    await using pair = await openSearchPair()
    const { url, inMemory, inDatabase } = pair
    // A server that searches in memory computes no vectors.
    await enrollPeople(pair, inMemory, peopleBetween(0, 100))
    assert.equal(await countRows(url, current), 0)
    await assertFound(pair, inDatabase, [0, 17, 99])
    await inDatabase.maintenance.maintainSearch(abortedAfter(1))
    const left = 100 - (await countRows(url, current))
    assert.ok(left > 0 && left < 100, `${left} are left after an interruption`)
    await assertFound(pair, inDatabase, [0, 17, 99])
    const lines: object[] = []
    const log = { ...silentLog, info: (line: object) => void lines.push(line) }
    const server = await pair.openServer({ log })
    assert.equal(await countRows(url, current), 100)
    assert.deepEqual(lines, [{ missing: left }, { done: left }])
    await assertFound(pair, server, [0, 17, 99])
    await enrollPeople(pair, inMemory, peopleBetween(100, 103))
    await assertFound(pair, server, [100, 102])
    await server.maintenance.maintainSearch(neverAborted)
    assert.equal(await countRows(url, current), 103)
    assert.equal(lines.length, 4)
  },
)

test(
  'A deleted subject has no vector after the commit, and soon none in the database files',
  { skip },
  async () => {
    await using pair = await openSearchPair({ exactMax: 10 })
    const { store, url, inDatabase } = pair
    const subjects = await enrollPeople(pair, inDatabase, peopleBetween(0, 20))
    await inDatabase.maintenance.maintainSearch(neverAborted)
    const [first] = subjects
    assert.ok(first)
    await store.write((tx) => inDatabase.subjects.remove(tx, first))
    assert.equal(await countRows(url, 'vectors'), 19)
    const deadRows = `pg_stat_user_tables where relname like 'vectors_%' and n_dead_tup > 0`
    for (let tries = 0; (await countRows(url, deadRows)) === 0; tries++) {
      assert.ok(tries < triesMax, 'the server counts dead rows')
      await sleep(100)
    }
    await inDatabase.maintenance.maintainSearch(neverAborted)
    const vacuumed = `pg_stat_user_tables where relname like 'vectors_%' and last_vacuum is not null`
    for (let tries = 0; (await countRows(url, vacuumed)) === 0; tries++) {
      assert.ok(tries < triesMax, 'the partition was vacuumed')
      await sleep(100)
    }
  },
)

test(
  'Vectors are stored as they are, rounded to half precision; rotating the keys does not change them',
  { skip },
  async () => {
    await using pair = await openSearchPair()
    const { store, url, masterKeyFile, inDatabase } = pair
    await enrollPeople(pair, inDatabase, peopleBetween(0, 3))
    const selectVectors = `select v.embedding::text as text from vectors v
      order by "subjectId"`
    const before = await queryRows(url, selectVectors)
    const expected = templateOf({ person: 0 }).vector
    const isPerson0 = ({ text }: Record<string, unknown>): boolean =>
      (JSON.parse(String(text)) as number[])
        .slice(0, -1)
        .every((value, index) => Math.abs(value - (expected[index] ?? 0)) < 1e-3)
    assert.equal(before.filter(isPerson0).length, 1)
    await rotateKeys({ store, masterKeyFile, nowMs: Date.now })
    assert.deepEqual(await queryRows(url, selectVectors), before)
    await assertFound(pair, inDatabase, [0, 1, 2])
  },
)

test('Vectors that were deleted are computed again at the next start', { skip }, async () => {
  await using pair = await openSearchPair()
  const { url, inDatabase } = pair
  await enrollPeople(pair, inDatabase, peopleBetween(0, 3))
  await runSql(url, `set "facegate.account" = '*'; delete from vectors`)
  await using maintenance = await openVectorMaintenance(url, { log: silentLog })
  const server = await pair.openServer()
  assert.ok(maintenance)
  assert.equal(await countRows(url, current), 3)
  await assertFound(pair, server, [0, 1, 2])
})

test('A template that was tampered with matches nothing and hides no other', { skip }, async () => {
  await using pair = await openSearchPair()
  const { owner, url, inMemory, inDatabase } = pair
  await enrollPeople(pair, inMemory, peopleBetween(0, 5))
  const [row] = await queryRows(url, `select "faceId" from templates order by "faceId" limit 1`)
  const faceId = String(row?.['faceId'])
  await runSql(
    url,
    `set "facegate.account" = '*';
    update templates set ciphertext = ciphertext || '\\x00' where "faceId" = '${faceId}'`,
  )
  const alerts: object[] = []
  const log = { ...silentLog, error: (line: object) => void alerts.push(line) }
  const server = await pair.openServer({ log })
  assert.equal(await countRows(url, 'vectors where embedding is null'), 1)
  assert.equal(alerts.length, 1)
  const searches = Array.from({ length: 5 }, (_, person) =>
    server.matching.search(owner.galleryId, [templateOf({ person })], { limit: 5 }),
  )
  for (const hits of await Promise.all(searches)) {
    assert.equal(hits.length, 4)
    assert.ok(hits.every((hit) => hit.faceId !== faceId))
  }
  assert.equal(alerts.length, 1)
  assert.equal((await inDatabase.matching.countComparable(owner.galleryId, ['people@1'])).count, 5)
})

test('A database without pgvector is rejected with instructions', { skip }, async () => {
  const server = await sharedPostgresServer()
  await using database = await server.createDatabase({ template: 'template0' })
  const opening = openVectorMaintenance(database.url, { log: silentLog })
  await assert.rejects(opening, /create extension vector.*superuser/u)
})

test(
  'When several servers start together, one creates the tables and all open',
  { skip },
  async () => {
    await using database = await createMigratedDatabase()
    const opening = Array.from({ length: 4 }, () =>
      openVectorMaintenance(database.url, { log: silentLog }),
    )
    for (const maintenance of await Promise.all(opening)) await maintenance[Symbol.asyncDispose]()
    assert.equal(await countRows(database.url, `pg_class where relname = 'vectors'`), 1)
  },
)

test('A transaction of one account cannot read the vectors of another', { skip }, async () => {
  await using pair = await openSearchPair()
  const { store, owner } = pair
  await enrollPeople(pair, pair.inDatabase, peopleBetween(0, 3))
  const count = () =>
    store.read(async ({ build, run }) => {
      const query = build
        .selectFrom('vectors')
        .select((row) => row.fn.countAll<number>().as('count'))
      return (await run(query))[0]?.count
    })
  assert.equal(await runAsAccount(owner.accountId, count), 3)
  assert.equal(await runAsAccount('another account', count), 0)
})

/** Returns a signal that aborts after its state was read this many times. */
function abortedAfter(reads: number): AbortSignal {
  const { signal } = new AbortController()
  let count = 0
  return Object.defineProperty(signal, 'aborted', { get: () => ++count > reads })
}
