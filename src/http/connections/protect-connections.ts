import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/limits/client-network.ts'
import type { Log } from '../../lib/log.ts'
import type { ConnectionStats } from './connection-stats.ts'
import { processSequentially } from './process-sequentially.ts'

export type ConnectionLimits = {
  readonly connectionsMax: number
  /** The maximum per client address; it does not apply behind trusted proxies. */
  readonly connectionsPerAddressMax: number
  /** A client that has responses to read must make progress within this time. */
  readonly writeMsMax: number
}

type ProtectionOptions = {
  readonly limits: ConnectionLimits
  /** The number of trusted reverse proxies. */
  readonly proxies: number
  readonly stats: ConnectionStats
  readonly log: Log
}

/** Applies every limit of connections to an HTTP server that does not yet listen. */
export function protectConnections(server: Server, options: ProtectionOptions): void {
  const { limits, proxies, stats, log } = options
  server.maxConnections = limits.connectionsMax
  server.on('drop', () => stats.recordClosed('connections_max'))
  server.on('connection', (socket) => {
    stats.recordOpened()
    socket.once('close', stats.recordEnd)
  })
  // Behind a proxy, every connection comes from the address of the proxy.
  if (proxies === 0)
    limitConnectionsPerAddress(server, limits.connectionsPerAddressMax, (address) => {
      stats.recordClosed('connections_per_address_max')
      log.debug({ address }, 'a connection was closed: its address has too many connections')
    })
  processSequentially(server)
  closeStalledConnections(server, limits.writeMsMax, () => {
    stats.recordClosed('write_timeout')
    log.debug('a connection was closed: its client does not read')
  })
  server.on('checkExpectation', rejectExpectation)
}

/**
 * Closes new connections of an address that already has the maximum number of open connections, so
 * that one client cannot take all of them.
 *
 * @param onRejected is called after each closed connection.
 */
function limitConnectionsPerAddress(
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

/** Without it Node responds without a body. */
function rejectExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ detail: 'Expect must be 100-continue.' })
  response.writeHead(417, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  })
  response.end(body)
}

// An import statement would also load the HTTP and WebSocket clients of Node, 50 ms at each start.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Responds to requests that the HTTP parser rejects: broken syntax, headers too large or too slow. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const status = statusOf(error.code)
  const reason = STATUS_CODES[status] ?? ''
  const body = JSON.stringify({ detail: `${reason}.` })
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

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
function closeStalledConnections(server: Server, timeoutMs: number, onClosed: () => void): void {
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
