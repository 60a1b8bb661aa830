import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
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
  const unbilled = { costMicros: 0n, meteredMicros: 0n, isReplay: 0, transferId: null } as const
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

/** Drops the old months of the log as a server does. */
function dropOldMonths({ dropOldLogMonths }: Store, beforeMs: number): Promise<number> {
  assert.ok(dropOldLogMonths)
  return dropOldLogMonths(beforeMs)
}

async function exists(pool: ConnectionPool, table: string): Promise<boolean> {
  const text = `select to_regclass('${table}') is not null as found`
  const { rows } = await pool.withSession(({ run }) => run({ text }))
  return rows[0]?.['found'] === true
}

/** Runs work while another session holds a lock on a table, as a reader does. */
async function whileReading(
  pool: ConnectionPool,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  await pool.withSession(async ({ run }) => {
    await run({ text: `begin; lock table ${table} in access share mode` })
    await work()
    await run({ text: 'rollback' })
  })
}

test(
  'Months that are old enough are dropped, and other old rows are deleted',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      await createLogPartitions(pool, Date.UTC(2021, 0, 1))
      const january = [1, 5, 20].map((day) => Date.UTC(2021, 0, day))
      const february = [1, 2, 3].map((day) => Date.UTC(2021, 1, day))
      for (const atMs of [...january, ...february]) await addCall(store, atMs)
      const watermarks = () => store.db.selectFrom('watermarks').selectAll().execute()
      assert.equal(
        await dropOldMonths(store, Date.UTC(2021, 1) - 1),
        0,
        'one millisecond too early',
      )
      assert.deepEqual(await watermarks(), [])
      const beforeMs = Date.UTC(2021, 1, 3)
      assert.equal(await dropOldMonths(store, beforeMs), 1)
      assert.equal(await exists(pool, 'calls_2021_01'), false)
      const waterwatermarkOf = (valueMs: number) => [{ name: 'callsSweptBefore', valueMs }]
      assert.deepEqual(
        await watermarks(),
        waterwatermarkOf(Date.UTC(2021, 1)),
        'the end of the month',
      )
      const sweep = () => store.write((tx) => tx.sweepCalls({ beforeMs, limit: 1 }))
      assert.deepEqual([await sweep(), await sweep(), await sweep()], [1, 1, 0])
      assert.deepEqual(Object.keys(await partitionsOf(pool)), [String(february[2])])
      assert.deepEqual(await watermarks(), waterwatermarkOf(beforeMs))
    })
  },
)

test(
  'A month is detached and then dropped in a separate transaction, and its rows are not read',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      const fromMs = Date.UTC(2021, 0, 1)
      await createLogPartitions(pool, fromMs, 0)
      await addCall(store, fromMs)
      const statements: string[] = []
      const methods = Client.prototype
      const original = Object.getOwnPropertyDescriptor(methods, 'query')
      const query: unknown = original?.value
      assert.ok(typeof query === 'function')
      Object.defineProperty(methods, 'query', {
        ...original,
        value(this: Client, ...parameters: unknown[]) {
          const [given] = parameters as [{ readonly text?: string } | string]
          statements.push(typeof given === 'string' ? given : (given.text ?? ''))
          return Reflect.apply(query, this, parameters) as unknown
        },
      })
      try {
        assert.equal(await dropOldMonths(store, Date.UTC(2022, 0)), 1)
      } finally {
        Object.defineProperty(methods, 'query', original ?? {})
      }
      const steps = statements.flatMap(
        (text) =>
          /^commit|detach partition|^drop table|count\(|access exclusive/iu.exec(text) ?? [],
      )
      assert.deepEqual(steps.slice(0, 2), ['detach partition', 'commit'])
      assert.equal(steps.filter((step) => step === 'drop table').length, 1)
      assert.ok(!steps.some((step) => /count|exclusive/u.test(step)), steps.join(', '))
    })
  },
)

test(
  'While calls use the log, a month is not detached; the next run does it',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      const fromMs = Date.UTC(2021, 0, 1)
      await createLogPartitions(pool, fromMs)
      for (const day of [0, 1]) await addCall(store, fromMs + day * dayMs)
      const sweep = { beforeMs: Date.UTC(2021, 1), limit: 1 }
      await whileReading(pool, 'calls', async () => {
        assert.equal(await dropOldMonths(store, sweep.beforeMs), 0)
        assert.equal(await store.write((tx) => tx.sweepCalls(sweep)), 1, 'rows are deleted')
        await addCall(store, fromMs + dayMs)
      })
      assert.equal(await dropOldMonths(store, sweep.beforeMs), 1)
      assert.deepEqual(await partitionsOf(pool), {})
    })
  },
)

test(
  'A month that was detached and not dropped is dropped by the next run',
  skipOptions,
  async () => {
    await withLog(async (store, pool) => {
      const fromMs = Date.UTC(2021, 0, 1)
      await createLogPartitions(pool, fromMs)
      await addCall(store, fromMs)
      await pool.withSession(({ run }) =>
        run({
          text: `begin; alter table calls detach partition calls_2021_01;
          alter table calls_2021_01 rename to detached_calls_2021_01; commit`,
        }),
      )
      const beforeMs = Date.UTC(2021, 0, 2)
      await whileReading(pool, 'detached_calls_2021_01', async () => {
        assert.equal(await dropOldMonths(store, beforeMs), 0)
        // No call waits for the lock on the detached table.
        await addCall(store, Date.UTC(2021, 1, 1))
      })
      assert.equal(await exists(pool, 'detached_calls_2021_01'), true)
      assert.equal(await dropOldMonths(store, beforeMs), 1)
      assert.equal(await exists(pool, 'detached_calls_2021_01'), false)
    })
  },
)

test('Several servers can drop old months at the same time', skipOptions, async () => {
  await withLog(async (store, pool) => {
    await createLogPartitions(pool, Date.UTC(2021, 0, 1))
    const runs = Array.from({ length: 4 }, () => dropOldMonths(store, Date.UTC(2021, 3)))
    const dropped = await Promise.all(runs)
    const rest = await dropOldMonths(store, Date.UTC(2021, 3))
    const total = dropped.reduce((sum, count) => sum + count, rest)
    assert.equal(total, 3)
    for (const month of ['01', '02', '03'])
      assert.equal(await exists(pool, `calls_2021_${month}`), false)
  })
})
