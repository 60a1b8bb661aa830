import assert from 'node:assert/strict'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/limits/client-network.ts'
import type { Log } from '../../lib/log.ts'
import type { ConnectionStats } from './connection-stats.ts'

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

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

type Connection = {
  /** The requests without a complete response, in their order. */
  readonly exchanges: Set<Exchange>
  /** Whether received bytes wait for a response. */
  isHeld: boolean
}

/**
 * Processes the pipelined requests of a connection one after another: a request is parsed when the
 * responses before it are sent. Node parses all requests of a received chunk at once, so that 64 KiB
 * of small requests would run 1,400 handlers and hold 1,400 responses. The unparsed bytes stay in
 * the buffer of the socket, at most two chunks of 64 KiB. Then the socket is not read, and TCP slows
 * down the client. Each turn of the event loop runs one waiting request of a connection, so that other
 * connections do not wait for all of them.
 */
function processSequentially(server: Server): void {
  const connections = new WeakMap<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    const connection = { exchanges: new Set<Exchange>(), isHeld: false }
    connections.set(socket, connection)
    feedSequentially(socket, connection)
  })
  const track = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request
    const connection = connections.get(socket)
    if (!connection) return
    const exchange = { request, response }
    connection.exchanges.add(exchange)
    response.once('close', () => {
      connection.exchanges.delete(exchange)
      if (!connection.isHeld || isBusy(connection)) return
      connection.isHeld = false
      setImmediate(() => socket.resume())
    })
  }
  // The framework may complete a response at once.
  server.prependListener('request', track)
  server.prependListener('checkExpectation', track)
}

/** Replaces the data listener of the HTTP server by one that passes on one request at a time. */
function feedSequentially(socket: Socket, connection: Connection): void {
  const [parse, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[]
  assert(parse && others.length === 0, 'the HTTP server has one data listener')
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    while (rest.length > 0 && !socket.destroyed) {
      const isWaiting = isBusy(connection)
      const chunked = findChunkedBody(connection)
      const isUnread = chunked && !chunked.readableFlowing && chunked.readableLength > 0
      if (isWaiting || isUnread || socket.isPaused()) {
        connection.isHeld ||= isWaiting
        if (isUnread) chunked.once('resume', () => socket.resume())
        socket.pause()
        socket.unshift(rest)
        return
      }
      const part = chunked ? firstChunks(rest) : rest
      const end = endOfPart(part, connection.exchanges.size > 0)
      parse(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
  socket.off('data', parse)
}

/**
 * Whether a complete request waits for its response. The body of the only request is still read: its
 * handler may wait for it. The body of a further request has to wait.
 */
function isBusy({ exchanges }: Connection): boolean {
  const [first] = exchanges
  return exchanges.size > 1 || first?.request.complete === true
}

/**
 * The bytes of a chunked body that are parsed at a time. Until the body is read (with a listener for
 * `data`), only one such part is in memory. A reader that has read enough stops the parser after it.
 */
const chunkedPartBytesMax = 4 * 1024
/** The line ends of such a part: a chunk has two. It takes some microseconds and some hundred bytes. */
const chunkedPartLinesMax = 128

function firstChunks(bytes: Buffer): Buffer {
  const part = bytes.subarray(0, chunkedPartBytesMax)
  let end = 0
  for (let count = 0; count < chunkedPartLinesMax; count++) {
    end = part.indexOf('\r\n', end) + 2
    if (end < 2) return part
  }
  return part.subarray(0, end)
}

function findChunkedBody({ exchanges }: Connection): IncomingMessage | undefined {
  const [first] = exchanges
  return first?.request.headers['transfer-encoding'] === undefined ? undefined : first.request
}

/** Headers and chunked bodies end with an empty line. */
const emptyLine = Buffer.from('\r\n\r\n')

/** `GET / HTTP/1.1` */
const requestLineBytesMin = 14

/** A body with many empty lines is not divided into parts of a few bytes. */
const bodyPartBytesMin = 256

/**
 * Returns the length of the first part, which ends with an empty line. Such a part contains at most
 * one whole request. A part that starts in a body may also contain its end and the few requests that
 * fit into 256 bytes; they are processed together.
 */
function endOfPart(bytes: Buffer, startsInBody: boolean): number {
  const from = startsInBody ? bodyPartBytesMin : requestLineBytesMin
  const lineEnd = bytes.indexOf(emptyLine, from)
  return lineEnd < 0 ? bytes.length : lineEnd + emptyLine.length
}
