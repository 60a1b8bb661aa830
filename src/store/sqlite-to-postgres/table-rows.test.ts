import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  recordLatency,
  createLatencyHistogram,
  packLatencies,
} from '../../lib/observability/latency-histogram.ts'
import { differingColumns, keyFromText, keyToText, rowsToJson } from './fill-target.ts'

test('A key converted to text and back is unchanged', () => {
  const key = [1, 'a "b" \\ é', Buffer.from([0, 255])]
  assert.deepEqual(keyFromText(keyToText(key)), key)
})

test('Money, bytes and histograms are written in the format that PostgreSQL reads', () => {
  const latencies = createLatencyHistogram()
  recordLatency(latencies, 0.01)
  const row = { costMicros: 2n ** 62n, ciphertext: Buffer.from([0, 171]), none: null, ms: 1 / 3 }
  const [read] = JSON.parse(rowsToJson([{ ...row, latencies: packLatencies(latencies) }]))
  assert.deepEqual(read, {
    costMicros: '4611686018427387904',
    ciphertext: '\\x00ab',
    none: null,
    ms: 1 / 3,
    latencies: [1, ...Array<number>(79).fill(0)],
  })
})

test('Text with a NUL character, which PostgreSQL cannot store, fails with the name of its column', () => {
  assert.throws(
    () => rowsToJson([{ displayName: 'a\0b' }]),
    /a displayName contains a NUL character/u,
  )
  assert.equal(rowsToJson([{ attributes: '{"a":"\\u0000"}' }]).includes('NUL'), false)
})

test('The comparison of two rows returns the columns with different values', () => {
  const row = { a: 1, b: 2n, c: Buffer.from('x'), d: null, e: 'é' }
  assert.deepEqual(differingColumns(row, { ...row, c: new Uint8Array([120]) }), [])
  assert.deepEqual(differingColumns(row, { ...row, b: 3n, c: Buffer.from('y'), d: '' }), [
    'b',
    'c',
    'd',
  ])
})
