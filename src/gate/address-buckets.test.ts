import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddressBuckets } from './address-buckets.ts'

test('All addresses of one IPv6 /64 network share a bucket', () => {
  const takeTokenOf = createAddressBuckets({ sustainedPerS: 1, burst: 2 }, () => 0)
  assert.equal(takeTokenOf('2001:db8:1:2::1').isAllowed, true)
  assert.equal(takeTokenOf('2001:db8:1:2::2').isAllowed, true)
  assert.equal(takeTokenOf('2001:db8:1:2:ffff::3').isAllowed, false)
  assert.equal(takeTokenOf('2001:db8:1:3::1').isAllowed, true)
})

test('Each IPv4 address has a bucket', () => {
  const takeTokenOf = createAddressBuckets({ sustainedPerS: 1, burst: 1 }, () => 0)
  assert.equal(takeTokenOf('192.0.2.1').isAllowed, true)
  assert.equal(takeTokenOf('::ffff:192.0.2.1').isAllowed, false)
  assert.equal(takeTokenOf('192.0.2.2').isAllowed, true)
})
