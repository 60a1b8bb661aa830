import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey, isApiKey, generateApiKey } from './api-key.ts'

test('a minted key has the documented form and checks', () => {
  for (const mode of ['live', 'test'] as const) {
    const key = generateApiKey(mode)
    assert.match(key, new RegExp(`^fsk_${mode}_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$`, 'u'))
    assert.ok(isApiKey(key))
    assert.equal(hashApiKey(key).length, 32)
  }
})

test('every cut and every mistyped character is noticed without a look-up', () => {
  const key = generateApiKey('live')
  for (let length = 0; length < key.length; length++) assert.ok(!isApiKey(key.slice(0, length)))
  for (let at = 0; at < key.length; at++) {
    const other = key[at] === 'x' ? 'y' : 'x'
    assert.ok(!isApiKey(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`)
  }
  assert.ok(!isApiKey(`${key} `))
})
