import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HttpError } from '../../lib/errors.ts'
import { parseJson } from './parse-json.ts'

const limits = { depthMax: 16, tokensMax: 1000 }
const parse = (text: string | Buffer) => parseJson(Buffer.from(text), limits)
const isBadRequest = (detail: RegExp) => (error: unknown) =>
  error instanceof HttpError && error.status === 400 && detail.test(error.message)

test('An object is parsed, with any characters in its strings', () => {
  const tricky = { a: '{"[]}:,', b: 'quote " and \\', c: ['\\\\"', { d: null }], é: '𝄞' }
  assert.deepEqual(parse(JSON.stringify(tricky, undefined, 2)), tricky)
})

test('Anything but a JSON object is rejected', () => {
  for (const text of ['', '[]', '"x"', '1', 'null', 'true', '{', '{"a":1,}', '{"a', '{a:1}'])
    assert.throws(() => parse(text), isBadRequest(/JSON/u), text)
})

test('A byte order mark is ignored', () => {
  assert.deepEqual(parse('\uFEFF{"a":1}'), { a: 1 })
  assert.throws(() => parse('{}\uFEFF'), isBadRequest(/line 1, column 3/u))
})

test('The message states the line and the column where the body stops being JSON', () => {
  for (const [text, location] of [
    ['{"a":1,\n "b":}', /line 2, column 6: expected a value/u],
    ['{"a": "é😀", b}', /line 1, column 13: expected a name in double quotes/u],
    ['{"a":"b', /line 1, column 6: expected a closing quote/u],
    ['{"a":[1 2]}', /line 1, column 9: expected a comma or \]/u],
    ['{"a":"\\x"}', /line 1, column 7: expected a valid escape/u],
    ['{"a":-}', /line 1, column 6: expected a number/u],
  ] as const)
    assert.throws(() => parse(text), isBadRequest(location), text)
})

test('Bytes that are not UTF-8 are rejected', () => {
  assert.throws(() => parse(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), isBadRequest(/UTF-8/u))
})

test('A body nested one level deeper than the limit is rejected', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
  assert.ok(parse(nested(16)))
  assert.throws(() => parse(nested(17)), isBadRequest(/deeper than 16/u))
  assert.throws(() => parse('['.repeat(100_000)), isBadRequest(/deeper than 16/u))
})

test('A body with one structural character more than the limit is rejected', () => {
  // {"a":[1,1,…]} has two braces, a colon, two brackets, and one comma less than elements.
  const list = (tokens: number) =>
    `{"a":[${Array.from({ length: tokens - 4 })
      .fill(1)
      .join()}]}`
  assert.ok(parse(list(1000)))
  assert.throws(() => parse(list(1001)), isBadRequest(/more than 1000/u))
})

test('A duplicate key is rejected at any depth', () => {
  assert.throws(() => parse('{"action":"a","action":"b"}'), isBadRequest(/action is duplicated/u))
  assert.throws(
    () => parse('{"action":"a","\\u0061ction":"b"}'),
    isBadRequest(/action is duplicated/u),
  )
  assert.throws(() => parse('{"params":{"x":1,"x":2}}'), isBadRequest(/x is duplicated/u))
  assert.throws(
    () => parse('{"params":{"images":[{"bytes":"a","bytes":"b"}]}}'),
    isBadRequest(/bytes is duplicated/u),
  )
  assert.ok(parse('{"a":{"x":1},"b":{"x":2}}'), 'the same key in two objects')
  assert.ok(parse('{"a":[{"x":1},{"x":2}]}'), 'the same key in two elements')
})

test('Keys that change prototypes are rejected at any depth', () => {
  assert.throws(() => parse('{"__proto__":{}}'), isBadRequest(/__proto__/u))
  assert.throws(() => parse('{"a":{"b":{"c":{"__proto__":1}}}}'), isBadRequest(/__proto__/u))
  assert.throws(() => parse('{"a":{"constructor":{"prototype":{}}}}'), isBadRequest(/constructor/u))
  assert.ok(parse('{"a":"__proto__"}'), 'allowed as a value')
})
