import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/limits/client-network.ts'

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
    const address = networkOf(socket.remoteAddress ?? '')
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
