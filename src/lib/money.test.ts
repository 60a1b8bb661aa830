import assert from 'node:assert/strict'
import { test } from 'node:test'
import { microsMax, parseMicros } from './money.ts'

test('amounts are exact up to 64 bits, beyond the precision of a double', () => {
  for (const text of ['0', '-1', '9007199254740991', '9007199254740993', String(microsMax)])
    assert.equal(String(parseMicros(text)), text)
})

test('text other than a 64-bit integer is rejected and never rounded', () => {
  for (const text of ['', ' 1', '1.5', '1e3', '0x10', '+1', 'NaN', '9223372036854775808', '1_000'])
    assert.throws(() => parseMicros(text), RangeError, text)
})
