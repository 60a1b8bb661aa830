import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body

async function runInPlayground(action: string, params: object) {
  const { projectId } = testConsole
  const call = { projectId, call: { action, params } }
  return assertOk(await send('POST', '/playground', call)).body
}

test('With billing switched off, a playground call is metered and the ledger still matches the log', async () => {
  const path = `/projects/${testConsole.projectId}`
  const before = await get('/overview')
  assertOk(await send('PATCH', path, { switches: { billing: false } }))
  const result = await runInPlayground('svc.detect', imageParams('Fay'))
  const price = result.meteredMicros
  assert.ok(result.costMicros === '0' && BigInt(price) > 0n)
  const { items } = await get(`/log?requestId=${result.envelope.requestId}`)
  const { billed, costMicros, meteredMicros } = items[0]
  assert.deepEqual([billed, costMicros, meteredMicros], [false, '0', price])
  const { spentMicros, meteredMicros: metered, budgets } = await get('/overview')
  assert.equal(spentMicros, before.spentMicros)
  assert.equal(BigInt(metered) - BigInt(before.meteredMicros), BigInt(price))
  assert.equal(budgets[0].billing, false)
  const { series } = await get('/analytics/spend?by=project')
  assert.equal(series[0].meteredMicros, metered)
  assert.equal((await get('/money')).projects[0].billing, false)
  const { logMicros, ledgerMicros } = await get('/money/reconcile')
  assert.equal(logMicros, ledgerMicros)
  assertOk(await send('PATCH', path, { switches: { billing: true } }))
  await assertLedgerAudit(testConsole.gallery)
})

test('A key expires after a year unless its creation names another time, or null for never', async () => {
  const settings = { projectId: testConsole.projectId, name: 'door', permissions: ['svc.detect'] }
  const byDefault = assertOk(await send('POST', '/keys', settings)).body
  const { createdAtUtc, expiresAtUtc } = byDefault
  assert.equal((Date.parse(expiresAtUtc) - Date.parse(createdAtUtc)) / 86_400_000, 365)
  const unlimited = { ...settings, expiresAtUtc: null }
  assert.equal(assertOk(await send('POST', '/keys', unlimited)).body.expiresAtUtc, null)
  const dated = { ...settings, expiresAtUtc: '2999-01-31T00:00:00Z' }
  const created = assertOk(await send('POST', '/keys', dated)).body
  assert.equal(created.expiresAtUtc, '2999-01-31T00:00:00.000Z')
})
