import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinSharedClock, type SharedClock } from '../../src/store/postgres/shared-clock.ts'
import { openPool, type ConnectionPool } from '../../src/store/postgres/connection/pool.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

const hourMs = 3_600_000
const secondUs = 1_000_000

/** Smaller differences come from the delay between two processes, not from a clock that was set. */
const toleranceUs = secondUs / 2

async function withPool(work: (pool: ConnectionPool) => Promise<void>): Promise<void> {
  await using database = await createMigratedDatabase()
  const pool = openPool(database.url, { connectionsMax: 4, statementTimeoutMs: 2000 })
  try {
    await work(pool)
  } finally {
    await pool.close()
  }
}

function assertNear(a: SharedClock, b: SharedClock): void {
  const apartUs = Math.abs(a.now() - b.now())
  assert.ok(apartUs < toleranceUs, `the clocks are ${apartUs} us apart`)
}

test(
  'The clock of the first server starts at the database’s time of day',
  skipOptions,
  async () => {
    await withPool(async (pool) => {
      const clock = await joinSharedClock(pool, { version: '1' })
      assert.ok(Math.abs(clock.now() - Date.now() * 1000) < 2 * secondUs)
      await clock.close()
    })
  },
)

test(
  'A server whose own clock is wrong by an hour uses the shared clock',
  skipOptions,
  async () => {
    await withPool(async (pool) => {
      const first = await joinSharedClock(pool, { version: '1' })
      for (const stepMs of [hourMs, -hourMs]) {
        const other = await joinSharedClock(pool, {
          version: '1',
          nowMs: () => Date.now() + stepMs,
        })
        assertNear(first, other)
        await other.close()
      }
      await first.close()
    })
  },
)

test(
  'Setting the database’s clock by an hour does not change the shared clock',
  skipOptions,
  async () => {
    await withPool(async (pool) => {
      for (const stepMs of [hourMs, -hourMs]) {
        const first = await joinSharedClock(pool, { version: '1' })
        // By a database clock that is an hour ahead, every server was last seen an hour earlier.
        await stepDatabase(pool, stepMs)
        const other = await joinSharedClock(pool, { version: '1' })
        assertNear(first, other)
        await Promise.all([first.close(), other.close()])
      }
    })
  },
)

test(
  'New servers take the time from running servers, not from the time of day',
  skipOptions,
  async () => {
    await withPool(async (pool) => {
      let last = await joinSharedClock(pool, { version: '1' })
      await pool.withSession(({ run }) =>
        run({ text: `update nodes set "steadyUs" = "steadyUs" + ${7 * hourMs * 1000}` }),
      )
      for (let servers = 0; servers < 3; servers++) {
        const next = await joinSharedClock(pool, { version: '1' })
        const aheadUs = next.now() - Date.now() * 1000
        assert.ok(Math.abs(aheadUs - 7 * hourMs * 1000) < 2 * secondUs, `${aheadUs} us ahead`)
        await last.close()
        last = next
      }
      await last.close()
    })
  },
)

test('The clock never decreases', skipOptions, async () => {
  await withPool(async (pool) => {
    let monotonicUs = 1000
    const clock = await joinSharedClock(pool, { version: '1', monotonicUs: () => monotonicUs })
    const before = clock.now()
    monotonicUs -= 500
    assert.equal(clock.now(), before)
    monotonicUs += 2500
    assert.equal(clock.now(), before + 2000)
    await clock.close()
  })
})

test('A server that closes its store is removed from the list', skipOptions, async () => {
  await using database = await createMigratedDatabase()
  const open = (isServer: boolean) =>
    openStore({ dataDir: '', databaseUrl: database.url }, { isServer })
  const [first, second] = [await open(true), await open(true)]
  const command = await open(false)
  assert.deepEqual(
    [first.isFirstServer, second.isFirstServer, command.isFirstServer],
    [true, false, false],
  )
  const pool = openPool(database.url, { connectionsMax: 1, statementTimeoutMs: 2000 })
  const count = async () =>
    (await pool.withSession(({ run }) => run({ text: 'select from nodes' }))).count
  assert.equal(await count(), 2, 'a command is not listed')
  await command.close()
  await first.close()
  assert.equal(await count(), 1)
  await second.close()
  assert.equal(await count(), 0)
  const next = await open(true)
  assert.equal(next.isFirstServer, true, 'no server is left')
  await next.close()
  await pool.close()
})

/** Changes the servers' rows as if the database's clock had been set. */
async function stepDatabase(pool: ConnectionPool, byMs: number): Promise<void> {
  await pool.withSession(({ run }) =>
    run({ text: `update nodes set "dbUs" = "dbUs" - ${byMs * 1000}` }),
  )
}
