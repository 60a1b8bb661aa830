import type { Socket } from 'node:net'

/** Links two sockets: when one closes, the other is destroyed. Both are in `openSockets` until then. */
export function linkSockets(pair: readonly [Socket, Socket], openSockets: Set<Socket>): void {
  for (const socket of pair) {
    openSockets.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        openSockets.delete(socket)
        for (const other of pair) other.destroy()
      })
  }
}
