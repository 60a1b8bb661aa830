import { HttpError } from '../lib/errors.ts'

/** A form of CompreFace has one or two files; browsers and libraries add little. */
const partsMax = 16

/**
 * The files of a `multipart/form-data` body, by name.
 *
 * @param contentType the header with its `boundary`. The SDK of CompreFace leaves it out when Node
 *   sends it a buffer: then the body's own first line says it.
 * @throws HttpError 400 when it is malformed or has more than 16 parts.
 */
export async function readFiles(bytes: Buffer, contentType: string): Promise<Map<string, Buffer>> {
  const boundary = boundaryOf(contentType) ?? firstLineOf(bytes)
  if (!boundary) throw new HttpError(400, 'The multipart body has no boundary.')
  requireFew(bytes, Buffer.from(`--${boundary}`))
  const files = new Map<string, Buffer>()
  for (const [name, part] of await parse(bytes, boundary))
    if (typeof part !== 'string') files.set(name, Buffer.from(await part.arrayBuffer()))
  return files
}

function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/iu.exec(contentType) ?? []
  return quoted ?? plain
}

function firstLineOf(bytes: Buffer): string | undefined {
  return /^--([\w'()+,./:=?-]{1,70})\r\n/u.exec(bytes.subarray(0, 80).toString('latin1'))?.[1]
}

/** Before it is parsed: a million parts would hold up everybody else. */
function requireFew(bytes: Buffer, delimiter: Buffer): void {
  let count = 0
  for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + 1))
    if (++count > partsMax + 1)
      throw new HttpError(400, `The body has more than ${partsMax} parts.`)
}

async function parse(bytes: Buffer, boundary: string): Promise<FormData> {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  try {
    return await new Response(new Uint8Array(bytes), { headers }).formData()
  } catch (cause) {
    throw new HttpError(400, 'The multipart body is malformed.', { cause })
  }
}
