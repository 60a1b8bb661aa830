import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** What a connection has sent, and the number of checks since then without progress. */
type Progress = { readonly sent: number; readonly queued: number; readonly checks: number }

const checkMsMax = 1000

/**
 * Closes connections whose client does not read. A connection that has unsent bytes, or waits for
 * the client to close it, is destroyed after a time without progress. One received byte is progress.
 * A socket timeout cannot do this: it also restarts when the client sends. The time is counted in
 * checks, so that a process that was suspended does not close clients that could not make progress.
 *
 * @param onClosed is called after each closed connection.
 */
export function closeStalledConnections(
  server: Server,
  timeoutMs: number,
  onClosed: () => void,
): void {
  const progressBySocket = new Map<Socket, Progress | undefined>()
  server.on('connection', (socket: Socket) => {
    progressBySocket.set(socket, undefined)
    socket.once('close', () => progressBySocket.delete(socket))
  })
  const intervalMs = Math.min(checkMsMax, timeoutMs / 4)
  const checksMax = Math.ceil(timeoutMs / intervalMs)
  const interval = setInterval(() => {
    for (const [socket, previous] of progressBySocket) {
      const progress = progressOf(socket, previous)
      progressBySocket.set(socket, progress)
      if (!progress || progress.checks < checksMax) continue
      socket.destroy()
      onClosed()
    }
  }, intervalMs)
  interval.unref()
  server.once('close', () => clearInterval(interval))
}

/** Returns undefined if the client has nothing to read. */
function progressOf(socket: Socket, previous: Progress | undefined): Progress | undefined {
  if (socket.writableLength === 0 && !socket.writableEnded) return undefined
  const sent = socket.bytesWritten - socket.writableLength
  const queued = queuedBytes(socket)
  const isUnchanged = previous?.sent === sent && previous.queued === queued
  return { sent, queued, checks: isUnchanged ? previous.checks + 1 : 0 }
}

/**
 * Returns the bytes of the running write that the operating system has not taken. Node has no public
 * property for it; the timeout of its sockets reads it too. Without it, progress within one
 * write is not visible.
 */
function queuedBytes(socket: Socket & { readonly _handle?: { writeQueueSize?: number } }): number {
  return socket._handle?.writeQueueSize ?? 0
}
