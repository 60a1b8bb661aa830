import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { openRawClient } from '../support/network/raw-client.ts'

const failuresBurst = 5

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: String(failuresBurst) },
  })
})
after(() => gallery[Symbol.asyncDispose]())

/** Returns how many of these clients, each with one wrong key, are over the limit of their network. */
async function countLimited(addresses: readonly string[]): Promise<number> {
  const responses = await Promise.all(
    addresses.map((address) =>
      fetch(`${gallery.url}/v1/subjects`, { headers: { 'x-forwarded-for': address } }),
    ),
  )
  return responses.filter(({ headers }) => headers.has('retry-after')).length
}

test('Addresses of one client count together, with ports and in one /64 network', async () => {
  const count = failuresBurst + 1
  const list = (addressOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => addressOf(index + 1))
  const forms: Readonly<Record<string, readonly string[]>> = {
    'IPv4 with a port': list((port) => `192.0.2.7:${port}`),
    IPv6: list((host) => `2001:db8:0:1::${host}`),
    'IPv6 in brackets': list((host) => `[2001:db8:0:2::${host}]`),
    'IPv4 mapped to IPv6': list(
      (port) => `[::ffff:${port % 2 ? 'cb00:7107' : '203.0.113.7'}]:${port}`,
    ),
    'IPv6 with a port': list((port) => `[2001:db8:0:3::1]:${port}`),
  }
  for (const [form, addresses] of Object.entries(forms))
    assert.equal(await countLimited(addresses), 1, form)
  assert.equal(await countLimited(list((host) => `198.51.100.${host}:443`)), 0, 'other clients')
  assert.equal(await countLimited(list((host) => `::ffff:c000:2${host}0`)), 0, 'mapped clients')
})

/** Sends a sign-in with these headers. @returns the status and the detail of the response. */
async function signIn(hosts: string): Promise<string> {
  const client = await openRawClient(gallery.url)
  const origin = /(?<=Host: ).*/u.exec(hosts)?.[0].trim()
  const head = `POST /console/v1/sign-in HTTP/1.1\r\n${hosts}Origin: http://${origin}\r\n`
  client.send(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`)
  const text = await client.readUntil((received) => received.includes('}'))
  client.socket.destroy()
  return text
}

test('A request needs exactly one valid header Host', async () => {
  for (const host of ['127.0.0.1:99999', 'a b', 'a/b', 'user@a', '[::1', ''])
    assert.match(await signIn(`Host: ${host}\r\n`), /^HTTP\/1\.1 400 .*header Host must be/su, host)
  const forwarded = 'Host: localhost\r\nX-Forwarded-Host: 127.0.0.1:99999\r\n'
  assert.match(await signIn(forwarded), /^HTTP\/1\.1 400 .*header Host must be/su)
  const twice = 'Host: localhost\r\nHost: localhost\r\n'
  assert.match(await signIn(twice), /^HTTP\/1\.1 400 .*only once/su)
  for (const host of ['127.0.0.1:65535', 'localhost', '[::1]:8080'])
    assert.match(await signIn(`Host: ${host}\r\n`), /^HTTP\/1\.1 422 /u, host)
})
