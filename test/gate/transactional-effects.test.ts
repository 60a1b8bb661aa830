import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { z } from 'zod'
import { defineAction, type Action } from '../../src/actions/action.ts'
import { ActionError } from '../../src/lib/errors.ts'
import {
  assertLedgerAudit,
  budgetMicros,
  callLogRows,
  startGate,
  type TestGate,
} from '../support/gate/test-gate.ts'

/** An action whose effect writes a price, and then succeeds, throws an ActionError or fails. */
function writingActions(gate: () => TestGate): ReadonlyMap<string, Action> {
  const write = defineAction({
    name: 'svc.write',
    summary: 'Write a price.',
    price: () => 1,
    params: z.strictObject({ name: z.string(), ending: z.enum(['succeed', 'reject', 'fail']) }),
    value: z.object({ name: z.string() }),
    errors: ['DUPLICATE_SUBJECT'],
    example: { params: {}, value: { name: '' } },
    run: async ({ params: { name, ending } }) => ({
      effect: async (tx) => {
        const row = { accountId: gate().project.accountId, action: name, unitMicros: 7n }
        await tx.run(tx.build.insertInto('prices').values(row))
        if (ending === 'reject') throw new ActionError('DUPLICATE_SUBJECT', name)
        if (ending === 'fail') throw new Error(name)
        return [{ correlationId: undefined, value: { name } }]
      },
    }),
  })
  return new Map([[write.name, write]])
}

test('An effect and its charge are written together or not at all', async () => {
  // The wall clock, by which the log is ordered, can be set back between two calls.
  let nowMs = Date.now()
  await using gate = await startGate({
    actions: writingActions(() => gate),
    clock: () => nowMs,
  })
  const call = (name: string, ending: string) => {
    nowMs += 60_000
    return gate.post({ action: 'svc.write', requestId: randomUUID(), params: { name, ending } })
  }
  const before = await budgetMicros(gate)

  assert.equal((await call('written', 'succeed')).body.ok, true)
  const rejected = await call('rejected', 'reject')
  assert.equal(rejected.body.errors[0].code, 'DUPLICATE_SUBJECT')
  assert.equal((await call('failed', 'fail')).status, 500)

  const prices = await gate.database.store.db.selectFrom('prices').select('action').execute()
  assert.deepEqual(
    prices.map(({ action }) => action),
    ['written'],
  )
  assert.equal(before - (await budgetMicros(gate)), 1000n)
  const codes = (await callLogRows(gate)).map((row) => row.code)
  assert.deepEqual(codes, ['HTTP_500', 'DUPLICATE_SUBJECT', 'OK'])

  const retry = { action: 'svc.write', requestId: rejected.body.requestId }
  const replay = await gate.post({ ...retry, params: { name: 'rejected', ending: 'reject' } })
  assert.equal(replay.body.meta.idempotencyReplay, true)
  assert.deepEqual(replay.body.errors, rejected.body.errors)
  await assertLedgerAudit(gate)
})
