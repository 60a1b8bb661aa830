import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { encrypt, keyBytes } from './aes-gcm.ts'
import { createDecryptMany, type BoundCiphertext } from './decrypt-many.ts'

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })
const itemArbitrary = fc.record({ plain: bytes(0, 70), boundTo: fc.string({ maxLength: 70 }) })

test('Ciphertexts of all lengths are decrypted, each with its own bound text', () => {
  fc.assert(
    fc.property(bytes(keyBytes, keyBytes), fc.array(itemArbitrary), (keyValue, items) => {
      const key = createSecretKey(keyValue)
      const encrypted = items.map(({ plain, boundTo }) => ({
        encrypted: encrypt(key, plain, boundTo),
        boundTo,
      }))
      const decrypted = createDecryptMany(key)(encrypted)
      assert.deepEqual(
        decrypted.map((plain) => plain && new Uint8Array(plain)),
        items.map(({ plain }) => plain),
      )
    }),
  )
})

test('One changed bit, another text or another key makes only its ciphertext undecryptable', () => {
  const key = createSecretKey(Buffer.alloc(keyBytes, 7))
  const items = [0, 1, 2].map((index): BoundCiphertext => {
    const boundTo = `subject-key|${index}`
    return { encrypted: encrypt(key, Buffer.alloc(keyBytes, index), boundTo), boundTo }
  })
  const [first, second, third] = items
  assert.ok(first && second && third)
  const decryptMany = createDecryptMany(key)
  const isDecrypted = (changed: BoundCiphertext) =>
    decryptMany([first, changed, third]).map((plain) => plain !== undefined)
  assert.deepEqual(isDecrypted(second), [true, true, true])
  for (let bit = 0; bit < second.encrypted.length * 8; bit++) {
    const encrypted: Uint8Array = Buffer.from(second.encrypted)
    encrypted[bit >> 3]! ^= 1 << (bit & 7)
    assert.deepEqual(isDecrypted({ ...second, encrypted }), [true, false, true], `bit ${bit}`)
  }
  for (const length of [0, 11, 27, 28, 59]) {
    const cut: BoundCiphertext = { ...second, encrypted: second.encrypted.subarray(0, length) }
    assert.deepEqual(isDecrypted(cut), [true, false, true], `${length} bytes`)
  }
  assert.deepEqual(isDecrypted({ ...second, boundTo: third.boundTo }), [true, false, true])
  const otherKey = createSecretKey(Buffer.alloc(keyBytes, 8))
  assert.deepEqual(createDecryptMany(otherKey)(items), [undefined, undefined, undefined])
})
