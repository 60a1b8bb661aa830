import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeFloat16, encodeFloat16 } from './float16.ts'

test('Every half-precision number is decoded as the runtime decodes it, and encoded to the same bits', () => {
  const bytes = new Uint8Array(Uint16Array.from({ length: 65_536 }, (_, bits) => bits).buffer)
  // A part of a larger buffer, as a file that was read is.
  const part = new Uint8Array(bytes.length + 7).subarray(7)
  part.set(bytes)
  const view = new DataView(bytes.buffer)
  const values = decodeFloat16(part)
  assert.equal(values.length, 65_536)
  for (const [bits, value] of values.entries())
    assert.ok(Object.is(value, view.getFloat16(2 * bits, true)), String(bits))
  const numbers = values.filter((value) => !Number.isNaN(value))
  assert.deepEqual(decodeFloat16(encodeFloat16(numbers)), numbers)
})
