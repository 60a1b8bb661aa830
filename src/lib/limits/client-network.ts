import { isIPv6 } from 'node:net'

/**
 * Returns the address in an entry of `X-Forwarded-For`. Some proxies add the port of the client, as in
 * `192.0.2.7:443` and `[2001:db8::1]:443`.
 */
export function addressWithoutPort(entry: string): string {
  const { ipv6, ipv4 } =
    /^(?:\[(?<ipv6>[^\]]+)\](?::\d+)?|(?<ipv4>[\d.]+):\d+)$/u.exec(entry)?.groups ?? {}
  return ipv6 ?? ipv4 ?? entry
}

/**
 * Returns the network that counts as one client: an IPv4 address, also in any form of an IPv6 address
 * that is mapped from it, or the first 64 bits of another IPv6 address, because one client usually has
 * all addresses of such a network.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1)
  if (!isIPv6(bare)) return bare
  // A URL has one form per address, in which all groups are hexadecimal.
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::')
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':')
  const omitted = tail === undefined ? 0 : 8 - groups.length - tailGroups.length
  const all = [...groups, ...Array.from({ length: omitted }, () => '0'), ...tailGroups]
  const prefix = all.slice(0, 6).join(':')
  return prefix === mappedPrefix ? toIpv4(all.slice(6)) : `${all.slice(0, 4).join(':')}::/64`
}

const mappedPrefix = '0:0:0:0:0:ffff'

/** Returns the IPv4 address of two groups of 16 bits. */
function toIpv4(groups: readonly string[]): string {
  const values = groups.map((group) => Number.parseInt(group, 16))
  return values.flatMap((value) => [value >> 8, value & 0xff]).join('.')
}
