import assert from 'node:assert/strict'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
export function processSequentially(server: Server): void {
  const connections = new WeakMap<Socket, Connection>()
  const takeTurn = createTurns()
  server.on('connection', (socket: Socket) => {
    const connection = { exchanges: new Set<Exchange>(), isHeld: false }
    connections.set(socket, connection)
    feedSequentially(socket, connection, takeTurn)
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
function feedSequentially(socket: Socket, connection: Connection, takeTurn: TakeTurn): void {
  const [parse, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[]
  assert(parse && others.length === 0, 'the HTTP server has one data listener')
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    while (rest.length > 0 && !socket.destroyed) {
      const isWaiting = isBusy(connection)
      const chunked = findChunkedBody(connection)
      const isUnread = chunked && !chunked.readableFlowing && chunked.readableLength > 0
      const isStopped = isWaiting || isUnread || socket.isPaused()
      if (isStopped || (chunked && !takeTurn(socket))) {
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
 * The line ends of a part of a chunked body; a chunk has two. Until the body is read (with a listener
 * for `data`), only one part is in memory. A reader that has read enough stops the parser after it.
 */
const chunkedPartLinesMax = 128

function firstChunks(bytes: Buffer): Buffer {
  let end = 0
  for (let count = 0; count < chunkedPartLinesMax; count++) {
    end = bytes.indexOf('\r\n', end) + 2
    if (end < 2) return bytes
  }
  return bytes.subarray(0, end)
}

type TakeTurn = (socket: Socket) => boolean

/** The connections whose chunks one turn of the event loop parses: 512 take some milliseconds. */
const connectionsPerTurn = 8

/**
 * Returns a function that returns whether a part of a chunked body may be parsed in this turn. Otherwise
 * the caller pauses the socket, which resumes in a later turn, in the order of the calls. Only running
 * requests wait: a server that stops closes idle connections.
 */
function createTurns(): TakeTurn {
  const waiting = new Set<Socket>()
  const parsed = new Set<Socket>()
  const startTurn = (): void => {
    parsed.clear()
    for (const socket of [...waiting].slice(0, connectionsPerTurn))
      if (waiting.delete(socket)) socket.resume()
    if (waiting.size > 0) setImmediate(startTurn)
  }
  return (socket) => {
    if (parsed.size === 0 && waiting.size === 0) setImmediate(startTurn)
    const isPermitted = !parsed.has(socket) && parsed.size < connectionsPerTurn
    if (isPermitted) parsed.add(socket)
    else waiting.add(socket)
    return isPermitted
  }
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
