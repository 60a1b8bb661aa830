import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  recordLatency,
  createLatencyHistogram,
  packLatencies,
} from '../../lib/observability/latency-histogram.ts'
import { differingColumns, keyFromText, keyToText, rowsToJson } from './table-rows.ts'

test('a place is the same again after it was written down', () => {
  const place = [1, 'a "b" \\ é', Buffer.from([0, 255])]
  assert.deepEqual(keyFromText(keyToText(place)), place)
})

test('money, bytes and histograms are written as PostgreSQL reads them', () => {
  const latencies = createLatencyHistogram()
  recordLatency(latencies, 0.01)
  const row = { costMicros: 2n ** 62n, sealed: Buffer.from([0, 171]), none: null, ms: 1 / 3 }
  const [read] = JSON.parse(rowsToJson([{ ...row, latencies: packLatencies(latencies) }]))
  assert.deepEqual(read, {
    costMicros: '4611686018427387904',
    sealed: '\\x00ab',
    none: null,
    ms: 1 / 3,
    latencies: [1, ...Array<number>(79).fill(0)],
  })
})

test('text that PostgreSQL cannot hold is refused by the name of its column', () => {
  assert.throws(() => rowsToJson([{ displayName: 'a\0b' }]), /a displayName holds a NUL character/u)
  assert.equal(rowsToJson([{ attributes: '{"a":"\\u0000"}' }]).includes('NUL'), false)
})

test('rows differ in the columns that differ', () => {
  const row = { a: 1, b: 2n, c: Buffer.from('x'), d: null, e: 'é' }
  assert.deepEqual(differingColumns(row, { ...row, c: new Uint8Array([120]) }), [])
  assert.deepEqual(differingColumns(row, { ...row, b: 3n, c: Buffer.from('y'), d: '' }), [
    'b',
    'c',
    'd',
  ])
})
