import { HttpError } from '../../lib/errors.ts'

/** A form of CompreFace has one or two files; browsers and libraries add little. */
const partsMax = 16

/** Each part says its name and little more. */
const headBytesMax = 2048

/**
 * The files of a `multipart/form-data` body (RFC 7578), by name, as views of the body. Parsed here:
 * the platform's own parser holds the event loop for a second over a body full of headers.
 *
 * @param contentType the header with its `boundary`. The SDK of CompreFace leaves it out when Node
 *   sends it a buffer: then the body's own first line says it.
 * @throws HttpError 400 when it is malformed or has more than 16 parts.
 */
export function readMultipartFiles(
  bytes: Buffer,
  contentType: string,
): ReadonlyMap<string, Buffer> {
  const boundary = boundaryOf(contentType) ?? boundaryFromFirstLine(bytes)
  if (boundary === undefined) throw malformed('has no boundary')
  const files = new Map<string, Buffer>()
  for (const { name, isFile, content } of parseParts(bytes, boundary))
    if (isFile) files.set(name, content)
  return files
}

function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/iu.exec(contentType) ?? []
  return quoted ?? plain
}

function boundaryFromFirstLine(bytes: Buffer): string | undefined {
  return /^--([\w'()+,./:=?-]{1,70})\r\n/u.exec(bytes.subarray(0, 80).toString('latin1'))?.[1]
}

type MultipartPart = { readonly name: string; readonly isFile: boolean; readonly content: Buffer }

/** From delimiter to delimiter; the one that ends the form is followed by two dashes. */
function parseParts(bytes: Buffer, boundary: string): readonly MultipartPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const opening = delimiter.subarray(lineEnd.length)
  // Some clients begin with an empty line.
  const from = bytes.toString('latin1', 0, lineEnd.length) === lineEnd ? lineEnd.length : 0
  let at = from + opening.length
  if (!bytes.subarray(from, at).equals(opening)) throw malformed('does not begin with its boundary')
  const parts: MultipartPart[] = []
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    if (parts.length === partsMax) throw malformed(`has more than ${partsMax} parts`)
    const head = bytes.toString('latin1', at, at + headBytesMax)
    const headLength = head.indexOf(headEnd)
    const start = at + headLength + headEnd.length
    const end = headLength === -1 ? -1 : bytes.indexOf(delimiter, start)
    if (end === -1) throw malformed('is cut short')
    parts.push({
      ...parseDisposition(head.slice(0, headLength)),
      content: bytes.subarray(start, end),
    })
    at = end + delimiter.length
  }
  return parts
}

const lineEnd = '\r\n'
const headEnd = '\r\n\r\n'

function parseDisposition(head: string): Omit<MultipartPart, 'content'> {
  const [line] = /^content-disposition:.*$/imu.exec(head) ?? []
  const [, quoted, plain] = /;\s*name=(?:"([^"]*)"|([^\s;]+))/iu.exec(line ?? '') ?? []
  const name = quoted ?? plain
  if (line === undefined || name === undefined) throw malformed('has a part without a name')
  return { name, isFile: /;\s*filename\*?=/iu.test(line) }
}

function malformed(problem: string): HttpError {
  return new HttpError(400, `The multipart body ${problem}.`)
}
