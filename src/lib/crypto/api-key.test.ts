import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey, isApiKey, generateApiKey } from './api-key.ts'

test('a generated key has the documented format and a valid checksum', () => {
  for (const mode of ['live', 'test'] as const) {
    const key = generateApiKey(mode)
    assert.match(key, new RegExp(`^fsk_${mode}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$`, 'u'))
    assert.ok(isApiKey(key))
    assert.equal(hashApiKey(key).length, 32)
  }
})

test('every truncation and every mistyped character is detected without a lookup', () => {
  const key = generateApiKey('live')
  for (let length = 0; length < key.length; length++) assert.ok(!isApiKey(key.slice(0, length)))
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === 'x' ? 'y' : 'x'
    assert.ok(!isApiKey(key.slice(0, index) + other + key.slice(index + 1)), `character ${index}`)
  }
  assert.ok(!isApiKey(`${key} `))
})
