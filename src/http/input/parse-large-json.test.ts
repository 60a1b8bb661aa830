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
  const ascii = ['a', '/', '\\/', '\\\\', '\\u0061', '\\n', '\\"']
  const any = [...ascii, '\\u00e9', '\\ud83d\\ude00', 'é', '😀']
  const textOf = (pieces: readonly string[]) =>
    fc.array(fc.constantFrom(...pieces), { minLength: 20, maxLength: 60 }).map((p) => p.join(''))
  await fc.assert(
    fc.asyncProperty(textOf(ascii), textOf(any), fc.nat(12), async (piece, other, shift) => {
      const long = 'a'.repeat(shift) + piece.replaceAll('\\"', '').repeat(mebibyte / 16)
      const short = other.repeat(Math.floor(mebibyte / Buffer.byteLength(other)))
      const json = `{"short":"x","list":["${long}","${short}",null,1]}`
      const bytes = Buffer.from(json)
      assert.deepEqual(await parseJsonBody(bytes, { ...limits, tokensMax: 1e6 }), JSON.parse(json))
    }),
    { numRuns: 15 },
  )
})

test('A text of up to one mebibyte can contain any character, a longer one only ASCII', async () => {
  const parse = (text: string) => parseJsonBody(Buffer.from(`{"text":"${text}"}`), limits)
  for (const character of ['é', '\\u00e9']) {
    const text = character + 'a'.repeat(mebibyte - Buffer.byteLength(character))
    assert.deepEqual(await parse(text), JSON.parse(`{"text":"${text}"}`))
    await assert.rejects(parse(`${text}a`), {
      message: /over 1048576 bytes must contain only ASCII/u,
    })
  }
  const escaped = `\\n${'a'.repeat(mebibyte)}`
  assert.deepEqual(await parse(escaped), JSON.parse(`{"text":"${escaped}"}`))
})
