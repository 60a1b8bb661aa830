import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { reconcile } from '../../src/store/billing/ledger-transfers.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { budgetLedger, updateProject } from '../../src/store/tenancy/projects.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  callLogRows,
  echoRequest,
  setBudget,
  startGate,
  type TestGate,
} from '../support/gate/test-gate.ts'

let gate: TestGate
/** Awaited by each call after its action has run. */
let beforeSettlement: (() => Promise<void>) | undefined
before(async () => {
  gate = await startGate({
    beforeStep: (step) => (step === 'settle' ? beforeSettlement?.() : undefined),
  })
})
after(() => gate[Symbol.asyncDispose]())
afterEach(() => assertLedgerAudit(gate))

const setBilling = (billing: boolean) =>
  updateProject(gate.database.store.db, gate.project.projectId, { switches: { billing } })

const reservedMicros = async () => {
  const budget = budgetLedger(gate.project.projectId)
  return (await findBalance(gate.database.store.db, budget)).reservedMicros
}

const transferCount = async () =>
  (await gate.database.store.db.selectFrom('ledgerTransfers').select('transferId').execute()).length

/** The charged and the metered amount of the newest call in the log, and whether it has a charge. */
async function lastAmounts() {
  const [row] = await callLogRows(gate)
  assert.ok(row)
  return [row.code, row.costMicros, row.meteredMicros, row.transferId !== null]
}

test('With an empty budget, calls are refused with the remedy while billing is on, and metered while it is off', async () => {
  await setBilling(true)
  await setBudget(gate, 1000n)
  assert.equal((await gate.post(echoRequest('last unit'))).body.ok, true)
  assert.deepEqual(await lastAmounts(), ['OK', 1000n, 0n, true])
  const refused = await gate.post(echoRequest('without budget'))
  const [{ code, message, hint }] = refused.body.errors
  assert.equal(code, 'PAYMENT_REQUIRED')
  assert.match(message, /facegate wallet top-up.*facegate budget allocate.*--billing off/u)
  assert.match(hint, /--billing off/u)

  await setBilling(false)
  const transfers = await transferCount()
  assert.equal((await gate.post(echoRequest('metered'))).body.ok, true)
  assert.deepEqual(await lastAmounts(), ['OK', 0n, 1000n, false])
  const failed = echoRequest('failed', undefined, { fail: 'action' })
  assert.equal((await gate.post(failed)).body.ok, false)
  assert.deepEqual((await lastAmounts()).slice(1), [0n, 0n, false])
  assert.equal(await transferCount(), transfers)
  assert.equal(await budgetMicros(gate), 0n)

  await setBilling(true)
  assert.equal((await gate.post(echoRequest('refused'))).body.errors[0].code, 'PAYMENT_REQUIRED')
})

/** Makes a call, and a change between its admission and its settlement. */
async function postDuring(request: object, change: () => Promise<unknown>) {
  const running = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  beforeSettlement = () => {
    running.resolve()
    return changed.promise
  }
  const response = gate.post(request)
  await running.promise
  await change().finally(changed.resolve)
  beforeSettlement = undefined
  return response
}

test('A call is billed by the setting at its admission, and its reservation is released', async () => {
  await setBilling(true)
  await setBudget(gate, 5000n)
  const billed = await postDuring(echoRequest('billed'), async () => {
    assert.equal(await reservedMicros(), 1000n)
    await setBilling(false)
  })
  assert.equal(billed.body.ok, true)
  assert.deepEqual(await lastAmounts(), ['OK', 1000n, 0n, true])
  assert.deepEqual([await budgetMicros(gate), await reservedMicros()], [4000n, 0n])

  const runs = (await callLogRows(gate)).length
  const metered = await postDuring(echoRequest('metered'), () => setBilling(true))
  assert.equal(metered.body.ok, true)
  assert.equal((await callLogRows(gate)).length, runs + 1)
  assert.deepEqual(await lastAmounts(), ['OK', 0n, 1000n, false])
  assert.deepEqual([await budgetMicros(gate), await reservedMicros()], [4000n, 0n])
})

test('Settings that change during 60 calls leave the ledger and the request log equal', async () => {
  await setBudget(gate, 1_000_000n)
  const before = await budgetMicros(gate)
  const first = (await callLogRows(gate)).length
  const calls = Array.from({ length: 60 }, (_, index) =>
    gate.post(echoRequest(`call ${index}`, undefined, { waitMs: (index * 7) % 50 })),
  )
  for (const billing of [false, true, false, true]) await setBilling(billing)
  const responses = await Promise.all(calls)
  assert.ok(responses.every(({ body }) => body.ok))
  const rows = (await callLogRows(gate)).slice(0, -first)
  assert.equal(rows.length, 60)
  const sum = (name: 'costMicros' | 'meteredMicros') =>
    rows.reduce((total, row) => total + row[name], 0n)
  assert.equal(sum('costMicros') + sum('meteredMicros'), 60_000n)
  assert.equal(before - (await budgetMicros(gate)), sum('costMicros'))
  assert.equal(await reservedMicros(), 0n)
  const { accountId } = gate.project
  const period = { accountId, fromMs: 0, toMs: Date.now() + 1000 }
  const totals = await gate.database.store.read((tx) => reconcile(tx, period))
  assert.equal(totals.logMicros, totals.ledgerMicros)
  assert.equal(totals.billedCalls, totals.charges)
})

test('The hourly counts contain the metered prices', async () => {
  const rows = await callLogRows(gate)
  const metered = rows.reduce((sum, row) => sum + row.meteredMicros, 0n)
  const hours = await gate.database.store.db.selectFrom('callHours').selectAll().execute()
  assert.ok(metered > 0n)
  assert.equal(
    hours.reduce((sum, hour) => sum + hour.meteredMicros, 0n),
    metered,
  )
})
