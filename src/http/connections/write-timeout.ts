import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** What a connection has sent, and the time of the last progress. */
type Progress = { readonly sent: number; readonly queued: number; readonly sinceMs: number }

const sweepMsMax = 1000

/**
 * Closes connections whose client does not read. A connection that has unsent bytes, or waits for
 * the client to close it, is destroyed after a time without progress. One received byte is progress.
 * A socket timeout cannot do this: it also restarts when the client sends.
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
  const sweep = setInterval(
    () => {
      const nowMs = performance.now()
      for (const [socket, previous] of progressBySocket) {
        const progress = progressOf(socket, previous, nowMs)
        progressBySocket.set(socket, progress)
        if (!progress || nowMs - progress.sinceMs < timeoutMs) continue
        socket.destroy()
        onClosed()
      }
    },
    Math.min(sweepMsMax, timeoutMs / 4),
  )
  sweep.unref()
  server.once('close', () => clearInterval(sweep))
}

/** Returns undefined if the client has nothing to read. */
function progressOf(
  socket: Socket,
  previous: Progress | undefined,
  nowMs: number,
): Progress | undefined {
  if (socket.writableLength === 0 && !socket.writableEnded) return undefined
  const sent = socket.bytesWritten - socket.writableLength
  const queued = queuedBytes(socket)
  const isUnchanged = previous?.sent === sent && previous.queued === queued
  return isUnchanged ? previous : { sent, queued, sinceMs: nowMs }
}

/**
 * Returns the bytes of the running write that the operating system has not taken. Node has no public
 * property for it; the timeout of its sockets reads it too. Without it, progress within one
 * write is not visible.
 */
function queuedBytes(socket: Socket & { readonly _handle?: { writeQueueSize?: number } }): number {
  return socket._handle?.writeQueueSize ?? 0
}
