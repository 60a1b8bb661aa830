import assert from 'node:assert/strict'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }
type DataListener = (chunk: Buffer) => void

/**
 * Processes the pipelined requests of a connection one after another: a request is parsed when the
 * responses before it are sent. Node parses all requests of a received chunk at once, so that 64 KiB
 * of small requests would run 1,400 handlers and hold 1,400 responses. The unparsed bytes stay in
 * the buffer of the socket, at most two chunks of 64 KiB. Then the socket is not read, and TCP slows
 * down the client.
 */
export function processSequentially(server: Server): void {
  const exchangesBySocket = new WeakMap<Socket, Set<Exchange>>()
  server.on('connection', (socket: Socket) => {
    exchangesBySocket.set(socket, feedSequentially(socket))
  })
  const track = (request: IncomingMessage, response: ServerResponse): void => {
    const exchanges = exchangesBySocket.get(request.socket)
    if (!exchanges) return
    const exchange = { request, response }
    exchanges.add(exchange)
    response.once('close', () => {
      exchanges.delete(exchange)
      if (!isBusy(exchanges) && !request.socket.destroyed) request.socket.resume()
    })
  }
  // The framework may complete a response at once.
  server.prependListener('request', track)
  server.prependListener('checkExpectation', track)
}

/**
 * Replaces the data listener of the HTTP server by one that passes on one request at a time.
 *
 * @returns the requests of the socket without a complete response; the caller maintains it.
 */
function feedSequentially(socket: Socket): Set<Exchange> {
  const exchanges = new Set<Exchange>()
  const [parse, ...others] = socket.listeners('data') as DataListener[]
  assert(parse && others.length === 0, 'the HTTP server has one data listener')
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    while (rest.length > 0 && !socket.destroyed) {
      if (socket.isPaused() || isBusy(exchanges)) {
        socket.pause()
        socket.unshift(rest)
        return
      }
      const end = endOfPart(rest, exchanges.size > 0)
      parse(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
  socket.off('data', parse)
  return exchanges
}

/**
 * Whether a complete request waits for its response. The body of the only request is still read: its
 * handler may wait for it. The body of a further request has to wait.
 */
function isBusy(exchanges: ReadonlySet<Exchange>): boolean {
  const [first] = exchanges
  return exchanges.size > 1 || first?.request.complete === true
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
