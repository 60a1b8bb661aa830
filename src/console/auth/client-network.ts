import { isIPv6 } from 'node:net'

/**
 * Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6
 * address, because one subscriber usually has at least that many.
 */
export function networkOf(clientIp: string): string {
  const address = clientIp.replace(/^::ffff:(?=\d+\.)/iu, '').replace(/%.*$/u, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const missingCount =
    tail === undefined ? 0 : 8 - groups.length - (tail ? tail.split(':').length : 0)
  const all = [
    ...groups,
    ...Array<string>(missingCount).fill('0'),
    ...(tail ? tail.split(':') : []),
  ]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
