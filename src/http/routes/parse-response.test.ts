import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
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
  let turns = 0
  const count = setInterval(() => turns++, 0)
  await parseResponse(schema, { name: 'x', items: itemsOf(5000) })
  clearInterval(count)
  assert.ok(turns > 0)
})
