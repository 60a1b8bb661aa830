import { HttpError } from '../../lib/errors.ts'
import type { HttpRequest } from '../route.ts'
import type { IncomingBody } from './incoming-body.ts'
import { parseJson, type JsonLimits } from './parse-json.ts'

export const jsonType = 'application/json'
export const formType = 'multipart/form-data'

/** Reads an accepted body of one media type. @throws HttpError 415 for another; as `readBytes`. */
export async function readBody(
  request: HttpRequest,
  bytesMax: number,
  type: string = jsonType,
): Promise<Buffer> {
  if (mediaTypeOf(request) !== type) {
    const sent = mediaTypeOf(request)?.slice(0, 64) || 'absent'
    throw new HttpError(415, `Content-Type must be ${type}; it is ${sent}.`)
  }
  return readBytes(request, bytesMax)
}

/**
 * Reads an accepted body as bytes: at most the limit plus one chunk. Its memory is reserved first:
 * its Content-Length at once, or each chunk of a body without one.
 *
 * @throws HttpError 415 for a content encoding, 413 above the limit, 503 above the budget, 400 when
 *   the client aborts the body.
 */
export async function readBytes(request: HttpRequest, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity')
    throw new HttpError(415, 'Content-Encoding is not supported; send the body uncompressed.')
  const { 'content-length': length } = request.headers
  if (length === undefined) return collectChunks(request.body, bytesMax)
  if (Number(length) > bytesMax) throw tooLarge(bytesMax)
  request.body.reserve(Number(length))
  return fillBuffer(request.body, Number(length))
}

export type JsonBodyLimits = { readonly bodyBytesMax: number; readonly jsonLimits: JsonLimits }

/** Reads an accepted body as a JSON object. @throws HttpError as `readBody` and `parseJson` do. */
export async function readJson(
  request: HttpRequest,
  { bodyBytesMax, jsonLimits }: JsonBodyLimits,
): Promise<Readonly<Record<string, unknown>>> {
  return parseJson(await readBody(request, bodyBytesMax), jsonLimits)
}

/** Returns the media type of the body in lower case, without parameters. */
export function mediaTypeOf({ headers }: HttpRequest): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}

/** Copies the chunks to one buffer as they arrive, so that a body is in memory once. */
async function fillBuffer(body: IncomingBody, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let byteCount = 0
  // The HTTP parser ends the body at its Content-Length.
  await readChunks(body, (chunk) => {
    byteCount += chunk.copy(bytes, byteCount)
    releaseChunk(chunk)
  })
  return bytes.subarray(0, byteCount)
}

async function collectChunks(body: IncomingBody, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let byteCount = 0
  await readChunks(body, (chunk) => {
    byteCount += chunk.length
    if (byteCount > bytesMax) throw tooLarge(bytesMax)
    body.reserve(chunk.length)
    chunks.push(chunk)
  })
  return Buffer.concat(chunks, byteCount)
}

/** Reads until the end of the body, or until the consumer of the chunks throws. */
function readChunks({ stream }: IncomingBody, consume: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isEnded = false
    const stop = (error: unknown): void => {
      stream.removeAllListeners('data').pause()
      reject(error)
    }
    stream.on('data', (chunk: Buffer) => {
      try {
        consume(chunk)
      } catch (error) {
        stop(error)
      }
    })
    stream.once('end', () => {
      isEnded = true
      resolve()
    })
    stream.once('error', (cause) => stop(incomplete(cause)))
    // It also follows the end of every body, and an error costs a stack trace.
    stream.once('close', () => !isEnded && stop(incomplete()))
  })
}

function incomplete(cause?: Error): HttpError {
  return new HttpError(400, 'The body is incomplete.', { cause })
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(
    413,
    `The request body is over ${bytesMax} bytes; send smaller or fewer images.`,
  )
}

/**
 * Frees the memory of a chunk whose bytes are no longer needed. Chunks are small for the garbage
 * collector but not for the process: it would run only after tens of mebibytes of them.
 */
export function releaseChunk({ buffer, byteLength }: Buffer): void {
  // The HTTP parser creates a separate buffer for each chunk; any other is shared and stays.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
