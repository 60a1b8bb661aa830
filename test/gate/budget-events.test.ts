import assert from 'node:assert/strict'
import { test } from 'node:test'
import { echoRequest, startGate } from '../support/gate/test-gate.ts'

test('Calls that share a commit add the events of the budget once, with the balance that crossed the limit', async () => {
  const affordable = 100
  let waiting = 0
  const allWait = Promise.withResolvers<void>()
  await using gate = await startGate({
    environment: { STARTER_CREDIT_MICROS: String(affordable), UNIT_PRICE_MICROS: '1' },
    beforeStep: async (step) => {
      if (step !== 'settle') return
      if (++waiting === affordable) allWait.resolve()
      await allWait.promise
    },
  })
  const { db } = gate.database.store
  const { projectId } = gate.project
  const events = JSON.stringify(['budget.low', 'budget.exhausted'])
  const createdAtUtc = new Date().toISOString()
  const webhook = { webhookId: 'webhook', projectId, url: 'https://example.org/', events }
  await db
    .insertInto('webhooks')
    .values({ ...webhook, createdAtUtc })
    .execute()
  const calls = Array.from({ length: 110 }, (_, index) => gate.post(echoRequest(`call ${index}`)))
  const codes = (await Promise.all(calls)).map(({ body }) => body.errors[0]?.code ?? 'OK')
  assert.equal(codes.filter((code) => code === 'OK').length, affordable)
  assert.equal(codes.filter((code) => code === 'PAYMENT_REQUIRED').length, 10)
  const stored = await db.selectFrom('webhookDeliveries').select(['type', 'data']).execute()
  assert.deepEqual(
    stored.map(({ type, data }) => [type, JSON.parse(data)]),
    [
      ['budget.low', { balanceMicros: '20', thresholdMicros: '20' }],
      ['budget.exhausted', { balanceMicros: '0', thresholdMicros: '0' }],
    ],
  )
})
