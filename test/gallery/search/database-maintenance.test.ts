import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
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
  enrollPeople,
  openSearchPair,
  silentLog,
  templateOf,
  type SearchPair,
} from '../../support/gallery/search-pair.ts'

const skip = postgresSkipReason ?? false
const neverAborted = new AbortController().signal

/** People of one look each. */
const peopleBetween = (from: number, to: number, groups?: readonly string[]) =>
  Array.from({ length: to - from }, (_, at) => ({
    looks: [{ person: from + at }],
    ...(groups && { groups }),
  }))

/** Rows of the database as its superuser sees them. */
async function rowsOf(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set "facegate.account" = '*'`)
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function countOf(url: string, from: string): Promise<number> {
  const [row] = await rowsOf(url, `select count(*)::int as count from ${from}`)
  return Number(row?.['count'])
}

/** Every one of these is found first, and as in memory. */
async function assertFound(
  { owner, inMemory }: SearchPair,
  gallery: SearchPair['inDatabase'],
  people: readonly number[],
) {
  for (const person of people) {
    const asked = [templateOf({ person, take: 1 })]
    const found = await gallery.search(owner.galleryId, asked, { limit: 3 })
    assert.deepEqual(found, await inMemory.search(owner.galleryId, asked, { limit: 3 }))
    assert.ok((found[0]?.similarity ?? 0) > 0.9, `person ${person} is found`)
  }
}

test(
  'the index finds who is there, scored as in memory, and a scan helps it out',
  { skip },
  async () => {
    await using both = await openSearchPair({ exactMax: 250 })
    const { owner, url, inMemory, inDatabase } = both
    const { galleryId } = owner
    await enrollPeople(both, inDatabase, peopleBetween(0, 300))
    await enrollPeople(both, inDatabase, peopleBetween(300, 320, ['few']))
    await inDatabase.maintain(neverAborted)
    await inDatabase.maintain(neverAborted)
    assert.equal(await countOf(url, `pg_indexes where indexdef like '%hnsw%'`), 1)
    let hits = 0
    for (let person = 0; person < 50; person++) {
      const asked = [templateOf({ person: person * 6, take: 1 })]
      const found = await inDatabase.search(galleryId, asked, { limit: 5 })
      const right = await inMemory.search(galleryId, asked, { limit: 320 })
      for (const hit of found) assert.ok(right.some(({ score }) => score === hit.score))
      if (found[0]?.faceId === right[0]?.faceId) hits += 1
    }
    assert.ok(hits >= 49, `${hits} of 50 were found`)
    // A connection's counts come in with a later transaction of its.
    const used = `pg_stat_user_indexes where relname like 'vectors_%' and idx_scan >= 40
    and indexrelname like '%_near_%'`
    for (let tries = 0; (await countOf(url, used)) === 0; tries++) {
      assert.ok(tries < 150, 'the index was used')
      await sleep(100)
    }
    // Few of the group are near anybody: the index gives up, and a scan answers.
    const open = await both.openServer({ exactMax: 0 })
    for (const person of [300, 310, 319, 5]) {
      const asked = [templateOf({ person, take: 2 })]
      const options = { limit: 20, groups: ['few'] }
      assert.deepEqual(
        await open.search(galleryId, asked, options),
        await inMemory.search(galleryId, asked, options),
      )
    }
  },
)

test('an index that was cut off in the building is built again', { skip }, async () => {
  await using both = await openSearchPair({ exactMax: 10 })
  const { adminUrl } = await sharedPostgresServer()
  await enrollPeople(both, both.inDatabase, peopleBetween(0, 20))
  await both.inDatabase.maintain(neverAborted)
  const admin = new URL(adminUrl)
  admin.pathname = new URL(both.url).pathname
  const mark = (valid: boolean) => `update pg_index set indisvalid = ${valid}
    from pg_class where oid = indexrelid and relname like '%_near_%'`
  await runSql(admin.href, mark(false))
  await both.inDatabase.maintain(neverAborted)
  assert.equal(await countOf(both.url, `pg_index where not indisvalid`), 0)
  assert.equal(await countOf(both.url, `pg_indexes where indexdef like '%hnsw%'`), 1)
})

test(
  'what was stored before is made into vectors, and what has none is found meanwhile',
  { skip },
  async () => {
    await using both = await openSearchPair()
    const { url, inMemory, inDatabase } = both
    // A server that searches in its memory makes no vectors.
    await enrollPeople(both, inMemory, peopleBetween(0, 30))
    assert.equal(await countOf(url, 'vectors'), 0)
    await assertFound(both, inDatabase, [0, 17, 29])
    const lines: object[] = []
    const log = { ...silentLog, info: (line: object) => void lines.push(line) }
    const other = await both.openServer({ log })
    assert.equal(await countOf(url, 'vectors'), 30)
    assert.deepEqual(lines, [{ lacking: 30 }, { done: 30 }])
    await assertFound(both, other, [0, 17, 29])
    await enrollPeople(both, inMemory, peopleBetween(30, 33))
    await assertFound(both, other, [30, 32])
    await other.maintain(neverAborted)
    assert.equal(await countOf(url, 'vectors'), 33)
    assert.equal(lines.length, 4)
  },
)

test(
  'who is deleted has no vector from the commit on, and none in the files soon after',
  { skip },
  async () => {
    await using both = await openSearchPair({ exactMax: 10 })
    const { store, url, inDatabase } = both
    const subjects = await enrollPeople(both, inDatabase, peopleBetween(0, 20))
    await inDatabase.maintain(neverAborted)
    const [first] = subjects
    assert.ok(first)
    await store.write((tx) => inDatabase.remove(tx, first))
    assert.equal(await countOf(url, 'vectors'), 19)
    assert.deepEqual(await rowsOf(url, `select sum(vectors)::int as sum from "vectorCounts"`), [
      { sum: 19 },
    ])
    const dead = `pg_stat_user_tables where relname like 'vectors_%' and n_dead_tup > 0`
    for (let tries = 0; (await countOf(url, dead)) === 0; tries++) {
      assert.ok(tries < 100, 'the server counts dead rows')
      await sleep(100)
    }
    await inDatabase.maintain(neverAborted)
    const cleared = `pg_stat_user_tables where relname like 'vectors_%' and last_vacuum is not null`
    for (let tries = 0; (await countOf(url, cleared)) === 0; tries++) {
      assert.ok(tries < 100, 'the partition was vacuumed')
      await sleep(100)
    }
  },
)

test(
  'vectors lie in a rotated space, which follows the setting and the keys',
  { skip },
  async () => {
    await using both = await openSearchPair()
    const { store, url, masterKeyFile, inDatabase } = both
    await enrollPeople(both, inDatabase, peopleBetween(0, 200))
    const stored = async () => {
      const text = `select v.embedding::text as text, v.space from vectors v
      join faces using ("faceId") join subjects s on s."subjectId" = faces."subjectId"
      order by s."createdAtUtc", s."subjectId"`
      return rowsOf(url, text)
    }
    const spaces = async () => [...new Set((await stored()).map(({ space }) => space))]
    const before = await stored()
    const [space] = await spaces()
    assert.equal(typeof space, 'string')

    const plain = await both.openServer({ isRotated: false })
    assert.deepEqual(await spaces(), [null])
    const seen = (await stored()).map(({ text }) => String(text))
    const own = [...templateOf({ person: 0 }).vector]
    const isOwn = (text: string): boolean =>
      (JSON.parse(text) as number[])
        .slice(0, -1)
        .every((value, at) => Math.abs(value - (own[at] ?? 0)) < 1e-3)
    assert.equal(seen.filter(isOwn).length, 1)
    assert.equal(before.filter(({ text }) => isOwn(String(text))).length, 0)
    await assertFound(both, plain, [0, 77, 199])

    const again = await both.openServer({ isRotated: true })
    assert.deepEqual(await spaces(), [space])
    assert.deepEqual(
      (await stored()).map(({ text }) => text),
      before.map(({ text }) => text),
    )

    await rotateKeys({ store, masterKeyFile, nowMs: Date.now })
    const [later, ...others] = await spaces()
    assert.ok(typeof later === 'string' && later !== space && others.length === 0)
    await assertFound(both, again, [0, 77, 199])
    await enrollPeople(both, again, peopleBetween(200, 202))
    await assertFound(both, again, [200, 201])
  },
)

test('a template that was tampered with matches nobody, and hides nobody', { skip }, async () => {
  await using both = await openSearchPair()
  const { owner, url, inMemory, inDatabase } = both
  await enrollPeople(both, inMemory, peopleBetween(0, 5))
  const [row] = await rowsOf(url, `select "faceId" from templates order by "faceId" limit 1`)
  const faceId = String(row?.['faceId'])
  await runSql(
    url,
    `set "facegate.account" = '*';
    update templates set sealed = sealed || '\\x00' where "faceId" = '${faceId}'`,
  )
  const alerts: object[] = []
  const log = { ...silentLog, error: (line: object) => void alerts.push(line) }
  const other = await both.openServer({ log })
  assert.equal(await countOf(url, 'vectors where embedding is null'), 1)
  assert.equal(alerts.length, 1)
  const told = Array.from({ length: 5 }, (_, person) =>
    other.search(owner.galleryId, [templateOf({ person })], { limit: 5 }),
  )
  for (const hits of await Promise.all(told)) {
    assert.equal(hits.length, 4)
    assert.ok(hits.every((hit) => hit.faceId !== faceId))
  }
  assert.equal(alerts.length, 1)
  assert.equal((await inDatabase.countComparable(owner.galleryId, ['people@1'])).count, 5)
})

test('a database without pgvector is refused, with what to do', { skip }, async () => {
  const server = await sharedPostgresServer()
  await using database = await server.createDatabase({ template: 'template0' })
  const opening = openVectorMaintenance(database.url, { log: silentLog })
  await assert.rejects(opening, /create extension vector.*superuser/u)
})

test('of servers that start at once one makes the tables, and all open', { skip }, async () => {
  await using database = await createMigratedDatabase()
  const opening = Array.from({ length: 4 }, () =>
    openVectorMaintenance(database.url, { log: silentLog }),
  )
  for (const upkeep of await Promise.all(opening)) await upkeep[Symbol.asyncDispose]()
  assert.equal(await countOf(database.url, `pg_class where relname = 'vectors'`), 1)
})

test('a transaction of one account sees no vector of another', { skip }, async () => {
  await using both = await openSearchPair()
  const { store, owner } = both
  await enrollPeople(both, both.inDatabase, peopleBetween(0, 3))
  const count = () =>
    store.read(async ({ build, run }) => {
      const query = build
        .selectFrom('vectors')
        .select((row) => row.fn.countAll<number>().as('count'))
      return (await run(query))[0]?.count
    })
  assert.equal(await runAsAccount(owner.accountId, count), 3)
  assert.equal(await runAsAccount('somebody else', count), 0)
})
