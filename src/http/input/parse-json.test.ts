import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HttpError } from '../../lib/errors.ts'
import { parseJson } from './parse-json.ts'

const limits = { depthMax: 16, tokensMax: 1000 }
const parse = (text: string | Buffer) => parseJson(Buffer.from(text), limits)
const refusedAs = (detail: RegExp) => (error: unknown) =>
  error instanceof HttpError && error.status === 400 && detail.test(error.message)

test('an object is parsed, whatever its strings hold', () => {
  const tricky = { a: '{"[]}:,', b: 'quote " and \\', c: ['\\\\"', { d: null }], é: '𝄞' }
  assert.deepEqual(parse(JSON.stringify(tricky, undefined, 2)), tricky)
})

test('everything that is no JSON object is refused', () => {
  for (const text of [
    '',
    '[]',
    '"x"',
    '1',
    'null',
    'true',
    '{',
    '{"a":1,}',
    '{"a',
    '{a:1}',
    '\uFEFF{}',
  ])
    assert.throws(() => parse(text), refusedAs(/JSON/u), text)
})

test('bytes that are not UTF-8 are refused', () => {
  assert.throws(() => parse(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), refusedAs(/UTF-8/u))
})

test('depth is refused one beyond its limit', () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
  assert.ok(parse(nested(16)))
  assert.throws(() => parse(nested(17)), refusedAs(/deeper than 16/u))
  assert.throws(() => parse('['.repeat(1_000_000)), refusedAs(/deeper than 16/u))
})

test('structure is refused one character beyond its limit', () => {
  // {"a":[1,1,…]} has two braces, a colon, two brackets and a comma less than elements.
  const list = (tokens: number) =>
    `{"a":[${Array.from({ length: tokens - 4 })
      .fill(1)
      .join()}]}`
  assert.ok(parse(list(1000)))
  assert.throws(() => parse(list(1001)), refusedAs(/more than 1000/u))
})

test('a key that stands twice is refused in the envelope and its params', () => {
  assert.throws(() => parse('{"action":"a","action":"b"}'), refusedAs(/action stands twice/u))
  assert.throws(() => parse('{"action":"a","\\u0061ction":"b"}'), refusedAs(/action stands twice/u))
  assert.throws(() => parse('{"params":{"x":1,"x":2}}'), refusedAs(/x stands twice/u))
  assert.ok(parse('{"a":{"x":1},"b":{"x":2}}'), 'the same key in two objects')
  assert.ok(parse('{"a":[{"x":1},{"x":2}]}'), 'the same key in two elements')
})

test('keys that change prototypes are refused at any depth', () => {
  assert.throws(() => parse('{"__proto__":{}}'), refusedAs(/__proto__/u))
  assert.throws(() => parse('{"a":{"b":{"c":{"__proto__":1}}}}'), refusedAs(/__proto__/u))
  assert.throws(() => parse('{"a":{"constructor":{"prototype":{}}}}'), refusedAs(/constructor/u))
  assert.ok(parse('{"a":"__proto__"}'), 'as a value it is text')
})
