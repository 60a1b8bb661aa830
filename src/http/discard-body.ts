import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { releaseChunk, smallChunksMax } from './input/read-body.ts'

export type DiscardLimits = {
  readonly bytesMax: number
  /** The time for the rest of the body to arrive. */
  readonly msMax?: number
  /** The time for the client to read its response when no more of its body is read. */
  readonly lingerMs?: number
}

type Payload = string | Buffer | Readable

const msMaxDefault = 10_000
const lingerMsDefault = 1000

/** The bytes of a discarded body per chunk. The body may be anonymous, and a chunk takes microseconds. */
const discardedChunkBytesMin = 1024

/**
 * Lets the client of a rejected request read its response although its body was not used: the rest
 * of the body is read and discarded, up to the limits. A connection that is closed while unread data
 * arrives is reset, and many clients then report the reset instead of the response.
 *
 * If the whole body is within the limit, the connection stays open for further requests. Otherwise
 * the response has `Connection: close`, and the connection is closed once the body has ended, the
 * client has closed it, or a limit is reached.
 *
 * @returns the payload to send.
 */
export function discardBody(response: ServerResponse, payload: Payload, limits: DiscardLimits) {
  const { req: request } = response
  const discarded = readAndDiscard(request, limits)
  const contentLength = Number(request.headers['content-length'] ?? Infinity)
  if (contentLength <= limits.bytesMax || payload instanceof Readable) {
    void closeIfIncomplete(request, discarded)
    return payload
  }
  const bytes = Buffer.from(payload)
  response.setHeader('connection', 'close')
  response.setHeader('content-length', bytes.length)
  return Readable.from(sendThenWait(bytes, discarded), { objectMode: false })
}

async function closeIfIncomplete(request: IncomingMessage, discarded: Promise<void>) {
  await discarded
  if (!request.complete) request.socket.destroy()
}

/** Ends the response, which closes the connection, only after the wait. */
async function* sendThenWait(payload: Buffer, wait: Promise<void>): AsyncGenerator<Buffer> {
  yield payload
  await wait
}

/**
 * Resolves when the body has ended, the client has disconnected, or a limit is reached, also that of
 * small chunks.
 */
function readAndDiscard(
  request: IncomingMessage,
  { bytesMax, msMax = msMaxDefault, lingerMs = lingerMsDefault }: DiscardLimits,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let timer = setTimeout(resolve, msMax)
  if (request.destroyed) resolve()
  let byteCount = 0
  let chunkCount = 0
  request.on('data', (chunk: Buffer) => {
    byteCount += chunk.length
    chunkCount += 1
    const chunksMax = smallChunksMax + byteCount / discardedChunkBytesMin
    releaseChunk(chunk)
    if (byteCount <= bytesMax && chunkCount <= chunksMax) return
    request.removeAllListeners('data').pause()
    request.socket.pause()
    clearTimeout(timer)
    timer = setTimeout(resolve, lingerMs)
  })
  request.once('end', resolve)
  request.once('close', resolve)
  request.on('error', () => {}) // The client may close the connection first.
  request.resume()
  return promise.finally(() => clearTimeout(timer))
}
