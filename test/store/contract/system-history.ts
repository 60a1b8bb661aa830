import assert from 'node:assert/strict'
import { readMigrationNames } from '../../../src/store/migrations.ts'
import { queries } from './tracked-queries.ts'
import { assertSameValues, nowMs, type StoreFixture } from './store-fixture.ts'

const server = 'host:8080'
const started = {
  server,
  pid: 1,
  version: '1.0.0',
  startedAtMs: nowMs,
  reportedAtMs: nowMs,
  stoppedAtMs: null,
  report: '{}',
}
const sample = {
  server,
  rssBytes: 3_000_000_000,
  heapBytes: 1,
  workerBytes: 2,
  workersUp: 1,
  queuedMax: 4,
  calls: 5,
  p50Ms: 1.5,
  p95Ms: null,
}

export const systemHistoryContract = {
  'a server that starts again keeps its samples, and old rows are deleted': async ({
    store,
  }: StoreFixture) => {
    await store.write(async (tx) => {
      await queries.startServer(tx, started)
      await queries.addSample(tx, { ...sample, atMs: nowMs })
      await queries.addSample(tx, { ...sample, atMs: nowMs, calls: 9 })
      await queries.addSample(tx, { ...sample, atMs: nowMs + 1 })
      await queries.stopServer(tx, { server, pid: 1, stoppedAtMs: nowMs + 2 })
      assert.equal((await queries.listServers(tx))[0]?.stoppedAtMs, nowMs + 2)
      await queries.startServer(tx, { ...started, pid: 2, version: '1.1.0' })
      // A report of the earlier process that arrives late changes nothing.
      const late = { server, pid: 1, reportedAtMs: nowMs + 9, report: '{"isLate":true}' }
      await queries.storeReport(tx, late)
      await queries.storeReport(tx, { ...late, pid: 2, reportedAtMs: nowMs + 3, report: '[]' })
      const expected = { ...started, pid: 2, version: '1.1.0', starts: 2, report: '[]' }
      assertSameValues(await queries.listServers(tx), [{ ...expected, reportedAtMs: nowMs + 3 }])
      assertSameValues(await queries.listSamples(tx, nowMs), [
        { ...sample, atMs: nowMs },
        { ...sample, atMs: nowMs + 1 },
      ])
      await queries.deleteOldHistory(tx, nowMs + 1)
      assert.equal((await queries.listSamples(tx, 0)).length, 1)
      await queries.deleteOldHistory(tx, nowMs + 4)
      assert.equal((await queries.listServers(tx)).length, 0)
      assert.equal((await queries.countRows(tx)).accounts, 1)
      assertSameValues(await queries.listCalibrationStates(tx), [])
    })
    const applied = (await queries.listMigrations(store.db)).map(({ name }) => name)
    const engine = store.isShared ? 'postgres' : 'sqlite'
    const folder = new URL(`../../../src/store/${engine}/migrations/`, import.meta.url)
    assert.ok(applied.includes('007-servers'))
    assert.deepEqual(applied, readMigrationNames(folder))
  },
}
