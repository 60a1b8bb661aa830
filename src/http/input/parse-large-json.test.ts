import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseJsonBody } from './parse-large-json.ts'

const limits = { depthMax: 16, tokensMax: 1000 }
const mebibyte = 1024 * 1024

test('A large body is parsed in one turn of the event loop per mebibyte', async () => {
  let turnCount = 0
  const countTurn = (): void => {
    turnCount++
    turn = setImmediate(countTurn)
  }
  let turn = setImmediate(countTurn)
  const image = 'a'.repeat(16 * mebibyte)
  const body = await parseJsonBody(Buffer.from(JSON.stringify({ image })), limits)
  clearImmediate(turn)
  assert.deepEqual(body, { image })
  assert.ok(turnCount >= 16, `${turnCount} turns`)
})

test('A large body equals that of JSON.parse, wherever its long texts are divided', async () => {
  const pieces = fc.constantFrom(
    'a',
    '/',
    '\\/',
    '\\\\',
    '\\u00e9',
    '\\ud83d\\ude00',
    '\\"',
    'é',
    '😀',
  )
  const text = fc.array(pieces, { minLength: 20, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(text, fc.nat(12), async (parts, shift) => {
      const repeated = `${'a'.repeat(shift)}${parts.join('')}`.repeat(Math.ceil(mebibyte / 40))
      const json = `{"short":"x","list":["${repeated.replaceAll('\\"', '')}",null,1]}`
      const bytes = Buffer.from(json)
      assert.deepEqual(await parseJsonBody(bytes, limits), JSON.parse(json))
    }),
    { numRuns: 15 },
  )
})
