import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStore, type Store } from '../../src/store/database.ts'
import { createLogPartitions } from '../../src/store/postgres/log-partitions.ts'
import { openPool, type ConnectionPool } from '../../src/store/postgres/connection/pool.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

const dayMs = 86_400_000

async function withLog(work: (store: Store, pool: ConnectionPool) => Promise<void>): Promise<void> {
  await using database = await createMigratedDatabase()
  const pool = openPool(database.url, { connectionsMax: 4, statementTimeoutMs: 2000 })
  const store = await openStore({ dataDir: '', databaseUrl: database.url })
  try {
    await work(store, pool)
  } finally {
    await store.close()
    await pool.close()
  }
}

function addCall(store: Store, atMs: number): Promise<void> {
  const of = { keyId: 'k', projectId: 'p', requestId: `at ${atMs}`, action: 'a', code: 'OK' }
  const free = { costMicros: 0n, isReplay: 0, transferId: null } as const
  return store.write((tx) => tx.logCall({ ...of, ...free, atMs, latencyMs: 1 }))
}

/** The tables that rows of the log lie in, by the time of the row. */
async function partitionsOf(pool: ConnectionPool): Promise<Record<string, string>> {
  const places: Record<string, string> = {}
  await pool.withSession(async ({ run }) => {
    await run({ text: `begin; select set_config('facegate.account', '*', true)` })
    const text = `select "atMs", tableoid::regclass::text as place from calls order by "atMs"`
    for (const { atMs, place } of (await run({ text })).rows) places[String(atMs)] = String(place)
    await run({ text: 'commit' })
  })
  return places
}

test('a row lies in the month of its time, UTC', skipOptions, async () => {
  await withLog(async (store, pool) => {
    await createLogPartitions(pool, Date.UTC(2031, 0, 31))
    const [last, first] = [Date.UTC(2031, 1) - 1, Date.UTC(2031, 1)]
    for (const atMs of [last, first, Date.UTC(2031, 2, 31, 23)]) await addCall(store, atMs)
    assert.deepEqual(Object.values(await partitionsOf(pool)), [
      'calls_2031_01',
      'calls_2031_02',
      'calls_2031_03',
    ])
  })
})

test('a row that came before its month was made moves into it', skipOptions, async () => {
  await withLog(async (store, pool) => {
    const atMs = Date.UTC(2033, 5, 15)
    await addCall(store, atMs)
    assert.deepEqual(await partitionsOf(pool), { [atMs]: 'calls_rest' })
    await createLogPartitions(pool, atMs)
    assert.deepEqual(await partitionsOf(pool), { [atMs]: 'calls_2033_06' })
    const { rows } = await pool.withSession(({ run }) =>
      run({ text: `select count(*) as count from pg_indexes where tablename = 'calls_2033_06'` }),
    )
    const { rows: usual } = await pool.withSession(({ run }) =>
      run({ text: `select count(*) as count from pg_indexes where tablename = 'calls_rest'` }),
    )
    assert.deepEqual(rows, usual, 'it has all the indexes')
  })
})

test(
  'processes that make the same months at once do not stand in each other’s way',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      const nowMs = Date.UTC(2035, 10, 30)
      await Promise.all(Array.from({ length: 4 }, () => createLogPartitions(pool, nowMs)))
      await addCall(store, Date.UTC(2036, 0, 1))
      assert.deepEqual(Object.values(await partitionsOf(pool)), ['calls_2036_01'])
    })
  },
)

test(
  'a month that is old enough goes as a whole, what is left goes row by row',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      await createLogPartitions(pool, Date.UTC(2021, 0, 1))
      const old = [1, 5, 20].map((day) => Date.UTC(2021, 0, day))
      const younger = [1, 2, 3].map((day) => Date.UTC(2021, 1, day))
      for (const atMs of [...old, ...younger]) await addCall(store, atMs)
      const beforeMs = Date.UTC(2021, 1, 3)
      const sweep = () => store.write((tx) => tx.sweepCalls({ beforeMs, limit: 1 }))
      assert.equal(await sweep(), 3, 'a month')
      const { rows } = await pool.withSession(({ run }) =>
        run({ text: `select to_regclass('calls_2021_01') is null as "isGone"` }),
      )
      assert.deepEqual(rows, [{ isGone: true }])
      assert.deepEqual([await sweep(), await sweep(), await sweep()], [1, 1, 0])
      assert.deepEqual(Object.keys(await partitionsOf(pool)), [String(younger[2])])
      const marks = await store.db.selectFrom('marks').selectAll().execute()
      assert.deepEqual(marks, [{ name: 'callsSweptBefore', valueMs: beforeMs }])
    })
  },
)

test(
  'while somebody reads the log a sweep does not wait to drop a month',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      const fromMs = Date.UTC(2021, 0, 1)
      await createLogPartitions(pool, fromMs)
      for (const day of [0, 1]) await addCall(store, fromMs + day * dayMs)
      const sweep = { beforeMs: Date.UTC(2022, 0), limit: 1 }
      await store.read(async ({ build, run }) => {
        assert.equal((await run(build.selectFrom('calls').selectAll())).length, 2)
        assert.equal(await store.write((tx) => tx.sweepCalls(sweep)), 1, 'one row')
      })
      assert.equal(
        await store.write((tx) => tx.sweepCalls(sweep)),
        1,
        'the month, with what was left',
      )
    })
  },
)
