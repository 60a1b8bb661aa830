import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fingerprintOf, decryptResponse, encryptResponse } from './fingerprint.ts'

const scope = { projectId: 'p', requestId: 'r', action: 'svc.echo', debug: false }
const of = (params: unknown) => fingerprintOf({ ...scope, params })

test('the order of fields does not matter, everything else does', () => {
  assert.deepEqual(of({ a: 1, b: [1, 2] }), of({ b: [1, 2], a: 1 }))
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))
      assert.equal(of(one).hash.equals(of(other).hash), isSame)
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

test('only the same content opens an answer, and no byte of it can be changed', () => {
  const { responseKey: answerKey, hash: fingerprint } = of({ image: 'abc' })
  const sealed = encryptResponse(answerKey, '{"ok":true,"name":"Zoë"}')
  assert.equal(decryptResponse(answerKey, sealed), '{"ok":true,"name":"Zoë"}')
  assert.equal(sealed.includes('Zoë'), false)
  assert.throws(() => decryptResponse(fingerprint, sealed))
  assert.throws(() => decryptResponse(of({ image: 'abd' }).responseKey, sealed))
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.throws(() => decryptResponse(answerKey, changed), `byte ${at}`)
  }
})

/** JSON with the fields of all objects in order; it writes -0 as 0. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { object: entries.map(([key, inner]) => [key, sorted(inner)]) }
}
