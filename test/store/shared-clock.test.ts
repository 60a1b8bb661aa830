import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinSharedClock, type SharedClock } from '../../src/store/postgres/shared-clock.ts'
import { openPool, type ConnectionPool } from '../../src/store/postgres/connection/pool.ts'
import { openStore } from '../../src/store/database.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

const hourMs = 3_600_000
const secondUs = 1_000_000

/** Differences below this are of the way between two processes, not of a clock that was set. */
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

test('the first server starts at the time of day of the database', skipOptions, async () => {
  await withPool(async (pool) => {
    const clock = await joinSharedClock(pool, { version: '1' })
    assert.ok(Math.abs(clock.now() - Date.now() * 1000) < 2 * secondUs)
    await clock.close()
  })
})

test('a server whose clock is an hour off goes by the others', skipOptions, async () => {
  await withPool(async (pool) => {
    const first = await joinSharedClock(pool, { version: '1' })
    for (const stepMs of [hourMs, -hourMs]) {
      const other = await joinSharedClock(pool, { version: '1', nowMs: () => Date.now() + stepMs })
      assertNear(first, other)
      await other.close()
    }
    await first.close()
  })
})

test(
  'the clock of the database is set by an hour: who joins goes on as before',
  skipOptions,
  async () => {
    await withPool(async (pool) => {
      for (const stepMs of [hourMs, -hourMs]) {
        const first = await joinSharedClock(pool, { version: '1' })
        // To whoever asks, a database set forward by an hour saw every server an hour longer ago.
        await stepDatabase(pool, stepMs)
        const other = await joinSharedClock(pool, { version: '1' })
        assertNear(first, other)
        await Promise.all([first.close(), other.close()])
      }
    })
  },
)

test('time is handed on from server to server, whatever the time of day', skipOptions, async () => {
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
})

test('a clock never goes back', skipOptions, async () => {
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

test('a server that ends leaves the list', skipOptions, async () => {
  await using database = await createMigratedDatabase()
  const open = (isServer: boolean) =>
    openStore({ dataDir: '', databaseUrl: database.url }, { isServer })
  const [one, two] = [await open(true), await open(true)]
  const visitor = await open(false)
  assert.deepEqual(
    [one.isFirstServer, two.isFirstServer, visitor.isFirstServer],
    [true, false, false],
  )
  const pool = openPool(database.url, { connectionsMax: 1, statementTimeoutMs: 2000 })
  const count = async () =>
    (await pool.withSession(({ run }) => run({ text: 'select from nodes' }))).count
  assert.equal(await count(), 2, 'a command is no server')
  await visitor.close()
  await one.close()
  assert.equal(await count(), 1)
  await two.close()
  assert.equal(await count(), 0)
  const next = await open(true)
  assert.equal(next.isFirstServer, true, 'nobody is left')
  await next.close()
  await pool.close()
})

/** What the rows of the servers look like after the clock of the database was set. */
async function stepDatabase(pool: ConnectionPool, byMs: number): Promise<void> {
  await pool.withSession(({ run }) =>
    run({ text: `update nodes set "dbUs" = "dbUs" - ${byMs * 1000}` }),
  )
}
