import assert from 'node:assert/strict'
import { createHmac as createNodeHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createHmac } from './short-hmac.ts'

test('the HMAC of a short message equals that of Node, and a secret of another length is rejected', () => {
  const secret = randomBytes(32)
  const hmac = createHmac(secret)
  for (const message of ['', 'answer', 'fingerprint', 'ä'.repeat(100)])
    assert.deepEqual(hmac(message), createNodeHmac('sha256', secret).update(message).digest())
  assert.throws(() => createHmac(randomBytes(31)), RangeError)
})
