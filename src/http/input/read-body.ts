import { HttpError, invalidRequest } from '../../lib/errors.ts'
import type { HttpRequest } from '../route.ts'
import { hasBody, type IncomingBody } from './incoming-body.ts'
import type { JsonLimits } from './parse-json.ts'
import { parseJsonBody } from './parse-large-json.ts'

export const jsonType = 'application/json'
export const formType = 'multipart/form-data'

/** The maximum bytes of a body that contains no image. */
export const textBodyBytesMax = 64 * 1024

/** Reads an accepted body of one media type. @throws HttpError 415 for another; as `readBytes`. */
export async function readBody(request: HttpRequest, bytesMax: number, type: string = jsonType) {
  if (mediaTypeOf(request) !== type) {
    const sent = mediaTypeOf(request)?.slice(0, 64) || 'absent'
    throw new HttpError(415, `Content-Type must be ${type}; it is ${sent}.`)
  }
  return readBytes(request, bytesMax)
}

/**
 * Reads an accepted body as bytes: at most the limit plus one chunk. The memory of each chunk is
 * reserved when it arrives, so that an announced length costs other requests nothing.
 *
 * @throws HttpError 415 for a content encoding, 413 above the limit, 503 above the budget, 408 below
 *   the minimum rate, 400 when the client aborts the body.
 */
export async function readBytes(request: HttpRequest, bytesMax: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity')
    throw new HttpError(415, 'Content-Encoding is not supported; send the body uncompressed.')
  const { 'content-length': length } = request.headers
  if (Number(length ?? 0) > bytesMax) throw tooLarge(bytesMax)
  return collectChunks(request.body, { bytesMax, capacityMax: Number(length ?? bytesMax) })
}

export type JsonBodyLimits = { readonly bodyBytesMax: number; readonly jsonLimits: JsonLimits }

/** Reads an accepted body as a JSON object. @throws HttpError as `readBody` and `parseJsonBody` do. */
export async function readJson(request: HttpRequest, { bodyBytesMax, jsonLimits }: JsonBodyLimits) {
  return parseJsonBody(await readBody(request, bodyBytesMax), jsonLimits)
}

/**
 * Refuses the body of a request whose parameters are all in its address. A parameter in an ignored body
 * would not limit what the request deletes.
 *
 * @throws ActionError INVALID_REQUEST.
 */
export function requireNoBody({ headers }: HttpRequest): void {
  if (!hasBody({ headers })) return
  const hint = 'Send the parameters of this request in its address.'
  throw invalidRequest('body: must be absent', { hint })
}

/** Returns the media type of the body in lower case, without parameters. */
export function mediaTypeOf({ headers }: HttpRequest): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}

type CollectLimits = {
  readonly bytesMax: number
  /** The buffer becomes no larger: the Content-Length, where there is one. */
  readonly capacityMax: number
}

/** Copies the chunks to one growing buffer as they arrive, so that a body is in memory once. */
async function collectChunks(body: IncomingBody, { bytesMax, capacityMax }: CollectLimits) {
  let bytes: Buffer = Buffer.alloc(0)
  let byteCount = 0
  let chunkCount = 0
  await readChunks(body, (chunk) => {
    const neededBytes = byteCount + chunk.length
    if (++chunkCount > smallChunksMax + (2 * neededBytes) / chunkBytesMin)
      throw new HttpError(
        413,
        `The request body has too many small chunks; send chunks of at least ${chunkBytesMin} bytes.`,
      )
    if (neededBytes > bytesMax) throw tooLarge(bytesMax)
    body.reserve(chunk.length)
    if (chunk.length === capacityMax) {
      // The only chunk, as of most bodies, needs no copy.
      bytes = chunk
      byteCount = neededBytes
      return
    }
    if (neededBytes > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.max(neededBytes, Math.min(2 * bytes.length, capacityMax)),
      )
      bytes.copy(grown)
      releaseChunk(bytes)
      bytes = grown
    }
    byteCount += chunk.copy(bytes, byteCount)
    releaseChunk(chunk)
  })
  return bytes.subarray(0, byteCount)
}

/** Reads until the end of the body, or until the consumer of the chunks throws. */
function readChunks(body: IncomingBody, consume: (chunk: Buffer) => void): Promise<void> {
  const { stream } = body
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isEnded = false
  const stop = (error: unknown): void => {
    stream.removeAllListeners('data').pause()
    reject(error)
  }
  const rate = watchRate(body, stop)
  stream.on('data', (chunk: Buffer) => {
    rate.byteCount += chunk.length
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
  return promise.finally(() => clearInterval(rate.timer))
}

const rateCheckMs = 1000
/** The minimum rate is required of this number of checks together, so that short stalls are permitted. */
const rateChecks = 5

/**
 * Rejects a body that arrives too slowly. The time is counted in checks, so that a process that was
 * suspended does not reject bodies that it could not read. The caller adds the bytes of each chunk.
 */
function watchRate({ bytesPerSMin }: IncomingBody, reject: (error: HttpError) => void) {
  let checks = 0
  const timer = setInterval(() => {
    checks += 1
    if (checks % rateChecks > 0) return
    const bytesMin = (bytesPerSMin * rateChecks * rateCheckMs) / 1000
    if (rate.byteCount < bytesMin)
      reject(new HttpError(408, `The body arrived at less than ${bytesPerSMin} bytes per second.`))
    rate.byteCount = 0
  }, rateCheckMs)
  const rate = { byteCount: 0, timer }
  return rate
}

function incomplete(cause?: Error): HttpError {
  return new HttpError(400, 'The body is incomplete.', { cause })
}

/**
 * A chunk costs some microseconds of processor time. Packets of slow networks have 500 bytes or more. A
 * chunk can arrive in two parts, because the server reads 4 KiB at a time.
 */
const chunkBytesMin = 256
/** Chunks of any size that each body may have, so that a small one can arrive in small pieces. */
export const smallChunksMax = 128

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
