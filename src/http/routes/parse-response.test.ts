import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { countTurns } from '../../../test/support/facegate/count-turns.ts'
import { parseResponse } from './parse-response.ts'

const schema = z.object({ name: z.string(), items: z.array(z.object({ n: z.int() })) })
const itemsOf = (length: number) => Array.from({ length }, (_, n) => ({ n }))

test('A response with a list of any length is validated and returned unchanged', async () => {
  for (const length of [0, 500, 501, 1000, 1001]) {
    const value = { name: 'x', items: itemsOf(length) }
    assert.deepEqual(await parseResponse(schema, value), value)
  }
})

test('An invalid element, an invalid field and a missing field are rejected', async () => {
  const items = itemsOf(1200)
  await assert.rejects(parseResponse(schema, { name: 'x', items: [...items, { n: 0.5 }] }))
  await assert.rejects(parseResponse(schema, { name: 1, items }))
  await assert.rejects(parseResponse(schema, { items }))
})

test('Other work runs while a long list is validated', async () => {
  const { turns } = await countTurns(() =>
    parseResponse(schema, { name: 'x', items: itemsOf(5000) }),
  )
  // 10,000 values are five steps.
  assert.ok(turns >= 4)
})

test('Other work runs while a short list of large elements is validated', async () => {
  const large = z.object({
    items: z.array(z.object({ attributes: z.record(z.string(), z.unknown()) })),
  })
  const attributes = Object.fromEntries(itemsOf(400).map(({ n }) => [`k${n}`, { in: [n] }]))
  const value = { items: Array.from({ length: 20 }, () => ({ attributes })) }
  const { turns, value: parsed } = await countTurns(() => parseResponse(large, value))
  assert.deepEqual(parsed, value)
  // 20 elements with 1,202 values are ten steps.
  assert.ok(turns >= 9)
})

test('Several responses are validated in separate turns', async () => {
  const values = Array.from({ length: 4 }, () => ({ name: 'x', items: itemsOf(2500) }))
  const { turns } = await countTurns(() =>
    Promise.all(values.map((value) => parseResponse(schema, value))),
  )
  // Each has three steps that end with a turn.
  assert.ok(turns >= 11)
})
