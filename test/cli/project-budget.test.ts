import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budget, ledger, wallet } from '../../src/cli/billing/commands.ts'
import { project } from '../../src/cli/tenancy/commands.ts'
import { createLineRunner } from '../support/cli/run-json.ts'
import { startGate } from '../support/gate/test-gate.ts'

test('project create --budget moves the whole wallet at most, else it creates no project', async () => {
  await using gate = await startGate()
  const commands = [project, budget, ledger, wallet]
  const { runForLines, runForJson } = createLineRunner(commands, () => gate.dataDir)
  const { balanceMicros } = await runForJson('wallet top-up --amount 5000')
  const tooMuch = BigInt(balanceMicros) + 1n
  await assert.rejects(runForLines(`project create door --budget ${tooMuch}`), /wallet/u)
  await assert.rejects(runForLines('project show door'), /there is no project door/u)
  await runForJson(`project create door --budget ${balanceMicros}`)
  assert.deepEqual(await runForJson('budget show --project door'), {
    balanceMicros,
    reservedMicros: '0',
  })
  await assert.rejects(runForLines('project create gate --budget 1'), /wallet/u)
  await assert.rejects(runForLines('project create gate --budget 0'), /--budget must be/u)
  assert.equal((await runForJson('ledger verify')).ok, true)
})
