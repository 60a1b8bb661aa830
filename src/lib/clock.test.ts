import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUtc } from './clock.ts'

test('dates and times without an offset are parsed as UTC', () => {
  assert.equal(parseUtc('2028-02-29').toISOString(), '2028-02-29T00:00:00.000Z')
  assert.equal(parseUtc('2026-12-31T23:59').toISOString(), '2026-12-31T23:59:00.000Z')
  assert.equal(parseUtc('2026-01-01T00:30:00.5+01:00').toISOString(), '2025-12-31T23:30:00.500Z')
})

test('dates that do not exist and other text are rejected', () => {
  for (const text of ['2026-02-30', '2026-02-29', '2026-13-01', '2026-00-10', '2026-04-31T10:00Z'])
    assert.throws(() => parseUtc(text), RangeError, text)
  for (const text of ['', 'tomorrow', '2026-1-1', '2026-01-01T25:00', '2026-01-01T10:61', '1e9'])
    assert.throws(() => parseUtc(text), RangeError, text)
})
