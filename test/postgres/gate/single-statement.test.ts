import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { openAdmissionPath } from '../../support/gate/admission-path.ts'
import { createAdmissionSnapshot, startMs } from '../../support/gate/admission-snapshot.ts'
import { randomCall } from '../../support/gate/random-call.ts'

const callsPerRun = 50
const runs = Math.ceil(Number(process.env['ADMISSION_CALLS'] ?? 300) / callsPerRun)
const windowMs = 20_000

test(
  `${runs * callsPerRun} random calls get the same decisions and write the same rows by single statements as by transactions`,
  { skip: postgresSkipReason ?? false },
  async (t) => {
    const snapshot = await createAdmissionSnapshot()
    const counts = { calls: 0, singleStatement: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomCall, { minLength: callsPerRun, maxLength: callsPerRun }),
        async (calls) => {
          await using fast = await openAdmissionPath(snapshot, 'singleStatement')
          await using stepwise = await openAdmissionPath(snapshot, 'stepwise')
          let [nowMs, steadyMs] = [startMs, startMs]
          for (const [index, call] of calls.entries()) {
            nowMs += call.wallMs
            steadyMs += call.steadyMs
            const now = { nowMs, steadyUs: steadyMs * 1000, windowMs }
            const context = { now, token: `token-${index}` }
            assert.deepEqual(
              await fast.run(call, context),
              await stepwise.run(call, context),
              `call ${index}`,
            )
          }
          assert.deepEqual(await fast.readTables(), await stepwise.readTables())
          assert.equal(stepwise.singleStatementCount(), 0)
          counts.calls += calls.length
          counts.singleStatement += fast.singleStatementCount()
        },
      ),
      { numRuns: runs, endOnFailure: true },
    )
    t.diagnostic(`${counts.singleStatement} of ${counts.calls} calls were single statements`)
    assert.ok(counts.singleStatement > counts.calls / 10)
  },
)
