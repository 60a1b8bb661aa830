import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateSize, type Workload } from '../../src/cli/size/estimate.ts'
import { installationLimits, measuredCosts } from '../../src/cli/size/unit-costs.ts'
import { runCli } from '../support/cli/run-cli.ts'

const workload: Workload = {
  faces: 1e6,
  callsPerS: 100,
  logDays: 10,
  meanShare: 0.1,
  coresPerServer: 16,
}
const costs = {
  ...measuredCosts,
  imageMs: 50,
  searchMsPerMillion: 20,
  callMs: { sqlite: 1, postgresql: 2 },
}
const prices = { core: 10, memoryGb: 2, diskGb: 0.5 }
const estimate = (changes: Partial<Workload> = {}) =>
  estimateSize({ ...workload, ...changes }, costs, prices)

test('Cores, memory, disk and cost of an installation are the sums of their unit costs', () => {
  // 100 calls/s × (50 + 20 + 1) ms = 7.1 cores; half as much again: 10.65.
  const { cores, servers, memoryGbPerServer, diskGb, costPerMonth, ...rest } = estimate()
  assert.deepEqual(rest, {
    faces: 1e6,
    callsPerS: 100,
    database: 'sqlite',
    installations: 1,
    searchMs: 20,
  })
  assert.deepEqual([cores, servers], [11, 1])
  assert.ok(Math.abs(memoryGbPerServer - (0.39 + 0.15 + 11 * 0.17 + 1.5)) < 1e-9)
  // A million faces of 3,600 bytes, and 100 × 0.1 calls/s for ten days of 1,750 bytes.
  assert.ok(Math.abs(diskGb - (3.6 + 15.12)) < 1e-9)
  assert.ok(Math.abs(costPerMonth - (110 + 2 * memoryGbPerServer + 0.5 * diskGb)) < 1e-9)
})

test('Beyond a limit of one installation the faces and calls are divided', () => {
  const { facesMax, callsPerDatabaseMax, callsOnSqliteMax } = installationLimits
  assert.equal(estimate({ faces: facesMax, callsPerS: 1 }).installations, 1)
  assert.equal(estimate({ faces: facesMax + 1, callsPerS: 1 }).installations, 2)
  assert.equal(estimate({ callsPerS: callsPerDatabaseMax }).installations, 1)
  assert.equal(estimate({ callsPerS: callsPerDatabaseMax + 1 }).installations, 2)
  const large = { coresPerServer: 1024 }
  assert.equal(estimate({ ...large, callsPerS: callsOnSqliteMax }).database, 'sqlite')
  assert.equal(estimate({ ...large, callsPerS: callsOnSqliteMax + 1 }).database, 'postgresql')
  assert.equal(estimate({ coresPerServer: 10 }).database, 'postgresql')
})

test('The command prints one row, or a table of all sizes, with the given unit costs', async () => {
  const { out } = await runCli(['size'])
  assert.equal(out.trim().split('\n').length, 26)
  const one = await runCli(
    ['size', '--faces', '10000', '--calls', '10', '--image-ms', '200', '--json'],
    {},
  )
  const [row] = JSON.parse(one.out)
  // 10 calls/s × (200 + 0.1332 + 1.12) ms × 1.5 = 3.02 cores.
  assert.deepEqual([row.cores, row.database], [4, 'sqlite'])
  const wrong = await runCli(['size', '--faces', '0'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /--faces .*a whole number from 1 to 1000000000/u)
})
