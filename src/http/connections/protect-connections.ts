import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Log } from '../../lib/log.ts'
import { limitConnectionsPerAddress } from './address-limit.ts'
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
