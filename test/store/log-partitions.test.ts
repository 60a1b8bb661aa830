import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import type { Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open-store.ts'
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
    await runAsAllAccounts(() => work(store, pool))
  } finally {
    await store.close()
    await pool.close()
  }
}

function addCall(store: Store, atMs: number): Promise<void> {
  const call = { keyId: 'k', projectId: 'p', requestId: `at ${atMs}`, action: 'a', code: 'OK' }
  const unbilled = { costMicros: 0n, isReplay: 0, transferId: null } as const
  return store.write((tx) => tx.logCall({ ...call, ...unbilled, atMs, latencyMs: 1 }))
}

/** Returns the partition of each row of the log by the row's time. */
async function partitionsOf(pool: ConnectionPool): Promise<Record<string, string>> {
  const partitions: Record<string, string> = {}
  await pool.withSession(async ({ run }) => {
    await run({ text: `begin; select set_config('facegate.account', '*', true)` })
    const text = `select "atMs", tableoid::regclass::text as part from calls order by "atMs"`
    for (const { atMs, part } of (await run({ text })).rows) partitions[String(atMs)] = String(part)
    await run({ text: 'commit' })
  })
  return partitions
}

test('A row is stored in the partition of its month, UTC', skipOptions, async () => {
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

test('A row that is older than its partition is moved into it', skipOptions, async () => {
  await withLog(async (store, pool) => {
    const atMs = Date.UTC(2033, 5, 15)
    await addCall(store, atMs)
    assert.deepEqual(await partitionsOf(pool), { [atMs]: 'calls_rest' })
    await createLogPartitions(pool, atMs)
    assert.deepEqual(await partitionsOf(pool), { [atMs]: 'calls_2033_06' })
    const { rows } = await pool.withSession(({ run }) =>
      run({ text: `select count(*) as count from pg_indexes where tablename = 'calls_2033_06'` }),
    )
    const { rows: expected } = await pool.withSession(({ run }) =>
      run({ text: `select count(*) as count from pg_indexes where tablename = 'calls_rest'` }),
    )
    assert.deepEqual(rows, expected, 'it has all indexes')
  })
})

test('Several processes can create the same partitions at the same time', skipOptions, async () => {
  await withLog(async (store, pool) => {
    const nowMs = Date.UTC(2035, 10, 30)
    await Promise.all(Array.from({ length: 4 }, () => createLogPartitions(pool, nowMs)))
    await addCall(store, Date.UTC(2036, 0, 1))
    assert.deepEqual(Object.values(await partitionsOf(pool)), ['calls_2036_01'])
  })
})

test(
  'A sweep drops a partition that is old enough as a whole, and deletes other rows singly',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      await createLogPartitions(pool, Date.UTC(2021, 0, 1))
      const january = [1, 5, 20].map((day) => Date.UTC(2021, 0, day))
      const february = [1, 2, 3].map((day) => Date.UTC(2021, 1, day))
      for (const atMs of [...january, ...february]) await addCall(store, atMs)
      const beforeMs = Date.UTC(2021, 1, 3)
      const sweep = () => store.write((tx) => tx.sweepCalls({ beforeMs, limit: 1 }))
      assert.equal(await sweep(), 3, 'a partition')
      const { rows } = await pool.withSession(({ run }) =>
        run({ text: `select to_regclass('calls_2021_01') is null as "isDropped"` }),
      )
      assert.deepEqual(rows, [{ isDropped: true }])
      assert.deepEqual([await sweep(), await sweep(), await sweep()], [1, 1, 0])
      assert.deepEqual(Object.keys(await partitionsOf(pool)), [String(february[2])])
      const marks = await store.db.selectFrom('marks').selectAll().execute()
      assert.deepEqual(marks, [{ name: 'callsSweptBefore', valueMs: beforeMs }])
    })
  },
)

test(
  'A sweep does not wait to drop a partition while the log is being read',
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
        'the partition with its remaining row',
      )
    })
  },
)
