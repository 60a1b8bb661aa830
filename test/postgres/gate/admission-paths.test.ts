import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { openAdmissionPath, type AdmissionPath } from '../../support/gate/admission-path.ts'
import {
  createAdmissionSnapshot,
  startMs,
  type AdmissionEngine,
} from '../../support/gate/admission-snapshot.ts'
import { randomCall, type RandomCall } from '../../support/gate/random-call.ts'

const callsPerRun = 50
const runs = Math.ceil(Number(process.env['ADMISSION_CALLS'] ?? 150) / callsPerRun)
const skip = postgresSkipReason ?? false

test(`SQLite: ${runs * callsPerRun} random calls get the same decisions and write the same rows in batches as in transactions`, async (t) => {
  const snapshot = await createAdmissionSnapshot('SQLite')
  const counts = { calls: 0, direct: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomCall, { minLength: callsPerRun, maxLength: callsPerRun }),
      async (calls) => {
        await using direct = await openAdmissionPath(snapshot, 'direct')
        await using transactions = await openAdmissionPath(snapshot, 'transactions')
        await compareCalls(calls, direct, transactions)
        assert.deepEqual(await direct.readTables(), await transactions.readTables())
        counts.calls += calls.length
        counts.direct += direct.directCount()
      },
    ),
    { numRuns: runs, endOnFailure: true },
  )
  t.diagnostic(`of ${counts.calls} calls, ${counts.direct} were admitted without a transaction`)
  assert.ok(counts.direct > counts.calls / 10)
})

async function compareCalls(
  calls: readonly RandomCall[],
  direct: AdmissionPath,
  transactions: AdmissionPath,
): Promise<void> {
  let [nowMs, steadyMs] = [startMs, startMs]
  for (const [index, call] of calls.entries()) {
    nowMs += call.wallMs
    steadyMs += call.steadyMs
    const now = { nowMs, steadyUs: steadyMs * 1000 }
    const context = { now, token: `token-${index}` }
    assert.deepEqual(
      await direct.run(call, context),
      await transactions.run(call, context),
      `call ${index}`,
    )
  }
}

/** The keys of the first project: the order of calls of several projects is not fixed. */
const firstProjectKeys = [0, 0, 0, 1, 2, 9, 10, 11]

const concurrentCall = fc
  .record({
    call: randomCall,
    key: fc.constantFrom(...firstProjectKeys),
    ending: fc.constantFrom(...(['ok', 'partial', 'open'] as const)),
  })
  .map(({ call, ...rest }): RandomCall => ({ ...call, ...rest, parseError: 'none' }))

test(
  'PostgreSQL: calls that share a statement get the same decisions and write the same rows as one by one',
  { skip },
  () => compareOrders('PostgreSQL', 4),
)

test('SQLite: calls that share a batch get the same decisions and write the same rows as one by one', () =>
  compareOrders('SQLite', 20))

/** Runs calls of one project at the same time and one by one, and compares all that they write. */
async function compareOrders(engine: AdmissionEngine, numRuns: number): Promise<void> {
  const snapshot = await createAdmissionSnapshot(engine)
  const now = { nowMs: startMs, steadyUs: startMs * 1000 }
  let admitted = 0
  await fc.assert(
    fc.asyncProperty(fc.array(concurrentCall, { minLength: 5, maxLength: 12 }), async (calls) => {
      await using together = await openAdmissionPath(snapshot, 'direct')
      await using inTurn = await openAdmissionPath(snapshot, 'direct')
      assert.deepEqual(
        await together.runTogether(calls, now, 'concurrent'),
        await inTurn.runTogether(calls, now, 'sequential'),
      )
      assert.deepEqual(await together.readTables(), await inTurn.readTables())
      admitted += together.directCount()
    }),
    { numRuns, endOnFailure: true },
  )
  assert.ok(admitted > numRuns, 'several calls of a batch were admitted')
}
