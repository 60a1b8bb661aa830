import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatUnits, microsMax, parseMicros } from './money.ts'

test('amounts are exact up to 64 bits, beyond the precision of a double', () => {
  for (const text of ['0', '-1', '9007199254740991', '9007199254740993', String(microsMax)])
    assert.equal(String(parseMicros(text)), text)
})

test('text other than a 64-bit integer is rejected and never rounded', () => {
  for (const text of ['', ' 1', '1.5', '1e3', '0x10', '+1', 'NaN', '9223372036854775808', '1_000'])
    assert.throws(() => parseMicros(text), RangeError, text)
  for (const digits of [19, 20, 40])
    assert.throws(() => parseMicros('9'.repeat(digits)), /exceed 64 bits/u)
})

test('amounts in the currency are exact, with at least two decimals', () => {
  const amounts = [0n, 1n, 1_500_000n, -2_500n, 1_000_000_000n, microsMax]
  assert.deepEqual(
    amounts.map((micros) => formatUnits(micros).replaceAll('\u202F', ' ')),
    ['0.00', '0.000001', '1.50', '−0.0025', '1 000.00', '9 223 372 036 854.775807'],
  )
})
