import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { backup } from '../../../src/cli/database/commands.ts'
import { sql } from '../../../src/store/database.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

const dayMs = 86_400_000

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole?.[Symbol.asyncDispose]())

const readOverview = async (query = '') =>
  assertOk(await testConsole.owner.get(`/overview${query}`)).body

type FirstStepItem = { readonly step: string; readonly isDone: boolean }
const doneSteps = (steps: readonly FirstStepItem[]) =>
  steps.filter(({ isDone }) => isDone).map(({ step }) => step)

test('The first steps are done when their data exists, a backup included', async () => {
  const { gallery } = testConsole
  assert.deepEqual(doneSteps((await readOverview()).firstSteps), [])
  await gallery.value('svc.detect', imageParams('Ada'))
  assert.deepEqual(doneSteps((await readOverview()).firstSteps), ['firstCall'])
  await gallery.value('svc.enroll', imageParams('Ada'))
  assert.deepEqual(doneSteps((await readOverview()).firstSteps), ['firstCall', 'firstSubject'])
  await runJson(gallery.dataDir, backup, `--to ${gallery.dataDir}/copy.db`)
  const { firstSteps } = await readOverview()
  assert.deepEqual(doneSteps(firstSteps), ['firstCall', 'firstSubject', 'backup'])
  assert.equal(firstSteps.length, 5)
})

test('The overview compares a period with the same one of the week before', async () => {
  const { db } = testConsole.gallery.database.store
  const now = await readOverview()
  assert.deepEqual([now.calls, now.before.calls, now.before.okShare], [2, 0, null])
  const makeOlder = (days: number) =>
    db
      .updateTable('callHours')
      .set({ hourMs: sql<number>`"hourMs" - ${days * dayMs}` })
      .execute()
  await makeOlder(7)
  const { calls, okShare, p50Ms, p95Ms, spentMicros, before } = await readOverview()
  assert.deepEqual([calls, okShare, spentMicros], [0, null, '0'])
  assert.deepEqual(before, {
    calls: 2,
    okShare: 1,
    p50Ms: now.p50Ms,
    p95Ms: now.p95Ms,
    spentMicros: now.spentMicros,
  })
  assert.deepEqual([p50Ms, p95Ms], [null, null])
  const week = await readOverview('?days=7')
  assert.deepEqual([week.calls, week.before.calls], [0, 2])
  await makeOlder(-6)
  assert.equal((await readOverview()).before.calls, 0, 'yesterday is not the week before')
  assert.equal((await readOverview('?days=7')).calls, 2)
})

test('A budget states for how many days it lasts at the rate of the last week', async () => {
  const { owner, projectId } = testConsole
  const [budget] = (await readOverview()).budgets
  // Three thousandths in a week last for centuries.
  assert.equal(budget.daysLeft, null)
  const leftMicros = 10_000n
  const amountMicros = String(leftMicros - BigInt(budget.balanceMicros))
  assertOk(await owner.send('POST', '/money/allocate', { projectId, amountMicros }))
  const spent = BigInt((await readOverview('?days=7')).spentMicros)
  assert.equal(spent, 3_000n)
  assert.equal((await readOverview()).budgets[0].daysLeft, Number((leftMicros * 7n) / spent))
})
