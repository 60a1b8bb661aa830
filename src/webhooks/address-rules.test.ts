import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLookups, findUrlProblem, isAllowedAddress } from './address-rules.ts'

const noNetworks = { allowedNetworks: [], isHttpAllowed: false }

const refused = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  'unique local': ['fc00::1', 'fdff:ffff::1'],
  'link-local': ['169.254.0.1', 'fe80::1', 'febf::1'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  metadata: ['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  'metadata over IPv6': ['fd00:ec2::254', 'fe80::a9fe:a9fe'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  reserved: ['192.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '240.0.0.1', '2001:db8::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  'IPv4-compatible': ['::127.0.0.1', '::10.0.0.1'],
  'translated IPv4': ['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1'],
  tunnels: ['2002:7f00:1::1', '2002:a9fe:a9fe::1', '2001::1'],
  'site-local': ['fec0::1'],
  'no address': ['', 'example.com', '1.2.3', '1.2.3.4.5'],
}

for (const [range, addresses] of Object.entries(refused))
  test(`Addresses of the range ${range} are refused`, () => {
    for (const address of addresses)
      assert.equal(isAllowedAddress(address, noNetworks), false, address)
  })

test('Public addresses next to the refused ranges are allowed', () => {
  const edges = ['9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255']
  const others = [
    '100.63.255.255',
    '100.128.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '223.255.255.1',
  ]
  const ipv6 = ['2606:4700::1', '2a00:1450::1', '::ffff:8.8.8.8']
  for (const address of ['1.1.1.1', '8.8.8.8', ...edges, ...others, ...ipv6])
    assert.equal(isAllowedAddress(address, noNetworks), true, address)
})

test('A network of the setting allows its addresses, and no others', () => {
  const rules = { allowedNetworks: ['10.1.0.0/16', 'fd00::/8'], isHttpAllowed: false }
  for (const address of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', 'fd12::1'])
    assert.equal(isAllowedAddress(address, rules), true, address)
  for (const address of ['10.0.255.255', '10.2.0.0', 'fc00::1', '127.0.0.1'])
    assert.equal(isAllowedAddress(address, rules), false, address)
})

test('URLs need https, a host and no credentials; literal addresses are checked in every spelling', () => {
  const problem = (url: string) => findUrlProblem(url, noNetworks)
  assert.equal(problem('https://example.com/hook?a=b'), undefined)
  assert.equal(problem('https://8.8.8.8/'), undefined)
  assert.equal(problem(`https://example.com/${'a'.repeat(2048 - 20)}`), undefined)
  assert.match(problem(`https://example.com/${'a'.repeat(2049 - 20)}`) ?? '', /2048 characters/u)
  for (const url of ['', 'example.com', 'ftp://example.com', 'file:///etc/passwd', 'https://'])
    assert.match(problem(url) ?? '', /must be an https address/u, url)
  assert.match(problem('http://example.com') ?? '', /WEBHOOK_ALLOW_HTTP=on/u)
  assert.equal(
    findUrlProblem('http://example.com', { ...noNetworks, isHttpAllowed: true }),
    undefined,
  )
  assert.match(problem('https://user:secret@example.com') ?? '', /user name/u)
  assert.match(problem('https://example.com/#a') ?? '', /fragment/u)
  for (const character of ['\n', '\u001b[31m', '\u202e'])
    assert.match(problem(`https://example.com/${character}`) ?? '', /control/u)
  const spellings = ['127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1', '[::1]']
  for (const host of [...spellings, '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '169.254.169.254'])
    assert.match(problem(`https://${host}/`) ?? '', /is not a public address/u, host)
})

function resolve(hostname: string, allowedNetworks: readonly string[]): Promise<unknown> {
  const rules = { allowedNetworks, isHttpAllowed: true }
  const lookup = createLookups(rules, 1)('account', AbortSignal.timeout(60_000))
  return new Promise((done, fail) => {
    lookup(hostname, { all: true }, (error, address) => (error ? fail(error) : done(address)))
  })
}

test('A name is resolved only to allowed addresses', async () => {
  await assert.rejects(resolve('localhost', []), /is not a public address; WEBHOOK_ALLOWED/u)
  const addresses = (await resolve('localhost', ['127.0.0.0/8'])) as { readonly address: string }[]
  assert.deepEqual([...new Set(addresses.map(({ address }) => address))], ['127.0.0.1'])
})
