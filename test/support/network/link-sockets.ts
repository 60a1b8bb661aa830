import type { Socket } from 'node:net'

/** Makes two sockets one line: the end of one is the end of both. Both are in `open` until then. */
export function linkSockets(pair: readonly [Socket, Socket], open: Set<Socket>): void {
  for (const socket of pair) {
    open.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        open.delete(socket)
        for (const one of pair) one.destroy()
      })
  }
}
