import assert from 'node:assert/strict'
import { Hash } from 'node:crypto'
import { mock, test } from 'node:test'
import * as fc from 'fast-check'
import { fingerprintOf, decryptResponse, encryptResponse } from './request-fingerprint.ts'

const scope = { projectId: 'p', requestId: 'r', action: 'svc.echo', debug: false }
const fingerprint = (params: unknown) => fingerprintOf({ ...scope, params })

test('The fingerprint depends on all content, but not on the order of fields', () => {
  assert.deepEqual(fingerprint({ a: 1, b: [1, 2] }), fingerprint({ b: [1, 2], a: 1 }))
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const isSame = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))
      assert.equal(fingerprint(left).hash.equals(fingerprint(right).hash), isSame)
    }),
    {
      examples: [
        [['a', 'b'], ['ab']],
        [{ a: 'b' }, ['a', 'b']],
        ['1', 1],
        [null, 'null'],
      ],
    },
  )
})

test('A long text is hashed in parts, all of which change the fingerprint', () => {
  const length = 2.5 * 1024 * 1024
  const update = mock.method(Hash.prototype, 'update')
  const texts = [0, 1.2, 2.4].map((part) => {
    const index = part * 1024 * 1024
    return `${'a'.repeat(index)}b${'a'.repeat(length - index)}`
  })
  const hashes = texts.map((text) => fingerprint({ text }).hash.toString('hex'))
  const lengths = update.mock.calls.map(({ arguments: [part] }) => part.length)
  update.mock.restore()
  assert.equal(new Set(hashes).size, texts.length)
  assert.ok(Math.max(...lengths) <= 1024 * 1024)
})

test('Requests with different replay scopes, or with one and without, have different fingerprints', () => {
  const ofScope = (replayScope?: string) => fingerprintOf({ ...scope, params: {}, replayScope })
  const values = [ofScope(), ofScope(''), ofScope('a'), ofScope('b')]
  for (const kind of ['hash', 'responseKey'] as const)
    assert.equal(new Set(values.map((value) => value[kind].toString('hex'))).size, 4)
})

test('The fingerprint of stored requests stays the same in later versions', () => {
  const images = [{ kind: 'image', bytes: 'A'.repeat(5000) }, 'B'.repeat(4096), 'C'.repeat(4090)]
  const params = { z: [1, null, 'Zoë 🙂'], images, a: { b: {}, x: -0.5 } }
  const content = { projectId: 'p', requestId: 'r', action: 'svc.enroll', debug: true, params }
  const { hash, responseKey } = fingerprintOf(content)
  assert.equal(
    hash.toString('hex'),
    'bee353aaa49c5547cd17217946e769f9a3e08a3d41de7f719049139f844b098d',
  )
  assert.equal(
    responseKey.toString('hex'),
    'd839726aefca7a55ef62dc7578364be0528ee6e49a122df22744eb4f1e817061',
  )
})

test('Each encryption has its own nonce', () => {
  const { responseKey } = fingerprint({ image: 'abc' })
  const nonceOf = () => encryptResponse(responseKey, 'x').subarray(0, 12).toString('hex')
  assert.equal(new Set(Array.from({ length: 2000 }, nonceOf)).size, 2000)
})

test('Only the same content decrypts a response, and any changed byte is detected', () => {
  const { responseKey, hash } = fingerprint({ image: 'abc' })
  const encrypted = encryptResponse(responseKey, '{"ok":true,"name":"Zoë"}')
  assert.equal(decryptResponse(responseKey, encrypted), '{"ok":true,"name":"Zoë"}')
  assert.equal(encrypted.includes('Zoë'), false)
  assert.throws(() => decryptResponse(hash, encrypted))
  assert.throws(() => decryptResponse(fingerprint({ image: 'abd' }).responseKey, encrypted))
  for (let index = 0; index < encrypted.length; index++) {
    const changed = Buffer.from(encrypted)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.throws(() => decryptResponse(responseKey, changed), `byte ${index}`)
  }
})

/** Sorts the fields of all objects, so that equal contents have the same JSON; JSON writes -0 as 0. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { object: entries.map(([key, inner]) => [key, sorted(inner)]) }
}
