import type { Server } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

/**
 * Closes new connections of an address that already has the maximum number of open connections, so
 * that one client cannot take all of them.
 *
 * @param onRejected is called after each closed connection.
 */
export function limitConnectionsPerAddress(
  server: Server,
  connectionsMax: number,
  onRejected: (address: string) => void,
): void {
  const counts = new Map<string, number>()
  server.prependListener('connection', (socket: Socket) => {
    const address = limitedAddress(socket.remoteAddress ?? '')
    const count = (counts.get(address) ?? 0) + 1
    counts.set(address, count)
    socket.once('close', () => {
      const rest = (counts.get(address) ?? 1) - 1
      if (rest === 0) counts.delete(address)
      else counts.set(address, rest)
    })
    if (count <= connectionsMax) return
    socket.destroy()
    onRejected(address)
  })
}

/**
 * Returns the address whose connections are counted together: an IPv4 address, or the first 64 bits
 * of an IPv6 address, because one client usually has all addresses of such a network.
 */
export function limitedAddress(address: string): string {
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
