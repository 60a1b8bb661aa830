import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/limits/client-network.ts'
import type { Log } from '../../lib/log.ts'
import type { ConnectionStats } from './connection-stats.ts'
import { processSequentially } from './sequential-requests.ts'
import { closeStalledConnections } from './write-timeout.ts'

export type ConnectionLimits = {
  readonly connectionsMax: number
  /** The maximum per client address; it does not apply behind trusted proxies. */
  readonly connectionsPerAddressMax: number
  /** A client that has responses to read must make progress within this time. */
  readonly writeMsMax: number
}

export type ProtectionOptions = {
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
