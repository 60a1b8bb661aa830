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
 * Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6
 * address, because one client usually has all addresses of such a network.
 */
export function networkOf(address: string): string {
  const [bare = ''] = address.split('%', 1)
  const mapped = /^::ffff:(?<ipv4>\d+\.\d+\.\d+\.\d+)$/iu.exec(bare)?.groups?.['ipv4']
  if (mapped !== undefined || !isIPv6(bare)) return mapped ?? bare
  const [head = '', tail] = bare.split('::')
  const groups = head === '' ? [] : head.split(':')
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':')
  const omitted = tail === undefined ? 0 : 8 - groups.length - tailGroups.length
  const all = [...groups, ...Array.from({ length: omitted }, () => '0'), ...tailGroups]
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
