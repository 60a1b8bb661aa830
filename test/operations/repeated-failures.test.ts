import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hourMs } from '../../src/lib/clock.ts'
import { schedule } from '../../src/start/schedule.ts'

test('Repeated failures of a job are logged once an hour, and again after a success', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval', 'Date'] })
  const logged: string[] = []
  const log = { error: (_fields: object, message: string) => void logged.push(message) }
  let fails = true
  const run = async (): Promise<void> => {
    if (fails) throw new Error('the database is full')
  }
  const settings = { intervalMs: 60_000, failure: 'the sweep failed', isDelayed: true }
  const job = schedule(run, settings, log as unknown as Parameters<typeof schedule>[2])
  const runTimes = async (count: number): Promise<number> => {
    logged.length = 0
    for (let index = 0; index < count; index++) {
      context.mock.timers.tick(60_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return logged.length
  }
  const runsPerHour = hourMs / 60_000
  assert.equal(await runTimes(1), 1)
  assert.equal(await runTimes(runsPerHour - 1), 0)
  assert.equal(await runTimes(1), 1, 'a failure that lasts is logged each hour')
  assert.equal(await runTimes(runsPerHour * 2), 2)
  fails = false
  assert.equal(await runTimes(1), 0)
  fails = true
  assert.equal(await runTimes(2), 1, 'the first failure after a success is logged')
  await job[Symbol.asyncDispose]()
})
