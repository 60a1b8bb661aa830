import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './client-network.ts'

test('An IPv4 address is its own network; IPv6 addresses share their first 64 bits', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(networkOf('2001:db8:1:2::9'), networkOf('2001:0db8:1:2:ffff::1'))
  assert.notEqual(networkOf('2001:db8:1:3::9'), networkOf('2001:db8:1:2::9'))
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(networkOf('2001:db8::'), '2001:db8:0:0::/64')
})

test('Each form of a mapped IPv4 address is the network of the IPv4 address', () => {
  const forms = [
    '::ffff:192.0.2.7',
    '::FFFF:192.0.2.7',
    '::ffff:c000:207',
    '::ffff:c000:0207%eth0',
    '0:0:0:0:0:ffff:c000:207',
    '0000:0000:0000:0000:0000:ffff:192.0.2.7',
  ]
  for (const form of forms) assert.equal(networkOf(form), '192.0.2.7', form)
  assert.equal(networkOf('::ffff:0:1'), '0.0.0.1')
  assert.equal(networkOf('::fffe:c000:207'), '0:0:0:0::/64')
})
