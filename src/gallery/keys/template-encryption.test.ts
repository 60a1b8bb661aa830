import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { encryptTemplate } from './template-encryption.ts'

test('A template that no search could load is not encrypted', () => {
  const ids = { accountId: 'a', galleryId: 'g', subjectId: 's', faceId: 'f', modelId: 'm' }
  const encrypt = (vector: readonly number[], density: number) =>
    encryptTemplate(randomBytes(32), ids, {
      modelId: 'm',
      vector: Float32Array.from(vector),
      density,
    })
  assert.ok(encrypt([1, 0], 1).length > 0)
  assert.throws(() => encrypt([1, Number.NaN], 1), /all values are finite/u)
  assert.throws(() => encrypt([1, Number.POSITIVE_INFINITY], 1), /all values are finite/u)
  assert.throws(() => encrypt([1, 0], Number.NaN), /the density is a finite number/u)
})
