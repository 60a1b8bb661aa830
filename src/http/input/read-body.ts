import type { Readable } from 'node:stream'
import { HttpError } from '../../lib/errors.ts'
import type { HttpRequest } from '../route.ts'

/**
 * Reads a body as bytes: at most the limit plus one chunk.
 *
 * @throws HttpError 415 for another type or a content encoding, 413 above the limit, 400 when the
 * client aborts the body.
 */
export async function readBody(
  request: HttpRequest,
  bytesMax: number,
  type = 'application/json',
): Promise<Buffer> {
  if (mediaTypeOf(request) !== type) throw new HttpError(415, `Content-Type must be ${type}.`)
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw new HttpError(415, 'Content-Encoding is not supported.')
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  return collectBytes(request.body, bytesMax)
}

/** Returns the media type of the body in lower case, without parameters. */
export function mediaTypeOf({ headers }: HttpRequest): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}

function collectBytes(body: Readable, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let byteCount = 0
    const stop = (error: HttpError): void => {
      body.removeAllListeners('data').pause()
      reject(error)
    }
    body.on('data', (chunk: Buffer) => {
      byteCount += chunk.length
      if (byteCount > bytesMax) return stop(tooLarge(bytesMax))
      chunks.push(chunk)
    })
    body.once('end', () => resolve(Buffer.concat(chunks, byteCount)))
    body.once('error', (cause) => stop(new HttpError(400, 'The body is incomplete.', { cause })))
    body.once('close', () => stop(new HttpError(400, 'The body is incomplete.')))
  })
}

function tooLarge(bytesMax: number): HttpError {
  return new HttpError(413, `The request body is over ${bytesMax} bytes.`)
}
