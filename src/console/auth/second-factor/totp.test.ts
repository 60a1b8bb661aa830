import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeTotpSecret, findTimeStep, generateTotpSecret } from './totp.ts'

/** The secret of the test vectors of RFC 6238, appendix B. */
const secret = Buffer.from('12345678901234567890')

test('The codes are those of RFC 6238, appendix B, with their last six digits', () => {
  const vectors: readonly (readonly [number, string])[] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ]
  for (const [seconds, code] of vectors)
    assert.equal(findTimeStep(secret, code, seconds * 1000), Math.floor(seconds / 30))
})

test('A code is accepted one time step before and after its own', () => {
  const step = 1
  for (const [seconds, expected] of [
    [0, step],
    [30, step],
    [89, step],
    [90, undefined],
  ] as const)
    assert.equal(findTimeStep(secret, '287082', seconds * 1000), expected)
})

test('Text other than six digits is not a code', () => {
  for (const code of ['', '28708', '2870822', '28708a', '٢٨٧٠٨٢', ' 287082'])
    assert.equal(findTimeStep(secret, code, 59_000), undefined)
})

test('The URI of the QR code contains the secret, the issuer and the user', () => {
  const described = describeTotpSecret(secret, 'Olga Ö')
  assert.equal(described.secret, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  const uri = new URL(described.uri)
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(decodeURIComponent(uri.pathname), '//totp/Facegate:Olga Ö'.slice(uri.host ? 6 : 0))
  assert.equal(uri.searchParams.get('secret'), described.secret)
  assert.equal(uri.searchParams.get('issuer'), 'Facegate')
  assert.equal(generateTotpSecret().length, 20)
  assert.notDeepEqual(generateTotpSecret(), generateTotpSecret())
})
