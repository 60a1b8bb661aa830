import { HttpError } from '../../lib/errors.ts'

/** A form has one or two files and the fields of the envelope; libraries add few other parts. */
const partsMax = 16

/** The headers of a part contain little more than its name. */
const headBytesMax = 2048

/**
 * Reads the parts of a `multipart/form-data` body (RFC 7578), as views of the body. It is parsed here
 * because the parser of the platform blocks the event loop for a second if a body contains very many
 * headers.
 *
 * @param contentType the header with its `boundary`. The SDK of CompreFace omits the boundary when
 *   Node sends a buffer: then it is read from the first line of the body.
 * @throws HttpError 400 if the body is malformed or has more than 16 parts.
 */
export function readMultipart(bytes: Buffer, contentType: string): readonly MultipartPart[] {
  const boundary = boundaryOf(contentType) ?? boundaryFromFirstLine(bytes)
  if (boundary === undefined) throw malformed('has no boundary')
  return parseParts(bytes, boundary)
}

/** Reads the files of a body by name. @throws HttpError 400 as `readMultipart`. */
export function readMultipartFiles(bytes: Buffer, contentType: string) {
  const files = readMultipart(bytes, contentType).filter(({ isFile }) => isFile)
  return new Map(files.map(({ name, content }) => [name, content]))
}

function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/iu.exec(contentType) ?? []
  return quoted ?? plain
}

function boundaryFromFirstLine(bytes: Buffer): string | undefined {
  return /^--([\w'()+,./:=?-]{1,70})\r\n/u.exec(bytes.subarray(0, 80).toString('latin1'))?.[1]
}

/** A part of a form: a file, or a text. */
export type MultipartPart = {
  readonly name: string
  readonly isFile: boolean
  /** In lower case, without parameters. */
  readonly contentType: string | undefined
  readonly content: Buffer
}

/** Parses from delimiter to delimiter. Two dashes follow the delimiter that ends the form. */
function parseParts(bytes: Buffer, boundary: string): readonly MultipartPart[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  const firstDelimiter = delimiter.subarray(lineEnd.length)
  // Some clients begin with an empty line.
  const offset = bytes.toString('latin1', 0, lineEnd.length) === lineEnd ? lineEnd.length : 0
  let position = offset + firstDelimiter.length
  if (!bytes.subarray(offset, position).equals(firstDelimiter))
    throw malformed('does not begin with its boundary')
  const parts: MultipartPart[] = []
  while (bytes.toString('latin1', position, position + 2) !== '--') {
    if (parts.length === partsMax) throw malformed(`has more than ${partsMax} parts`)
    const head = bytes.toString('latin1', position, position + headBytesMax)
    const headLength = head.indexOf(headEnd)
    const start = position + headLength + headEnd.length
    const end = headLength === -1 ? -1 : bytes.indexOf(delimiter, start)
    if (end === -1) throw malformed('is truncated')
    parts.push({
      ...parseHead(head.slice(0, headLength)),
      content: bytes.subarray(start, end),
    })
    position = end + delimiter.length
  }
  return parts
}

const lineEnd = '\r\n'
const headEnd = '\r\n\r\n'

function parseHead(head: string): Omit<MultipartPart, 'content'> {
  const [line] = /^content-disposition:.*$/imu.exec(head) ?? []
  const [, quoted, plain] = /;\s*name=(?:"([^"]*)"|([^\s;]+))/iu.exec(line ?? '') ?? []
  const name = quoted ?? plain
  if (line === undefined || name === undefined) throw malformed('has a part without a name')
  const [, contentType] = /^content-type:[ \t]*([^\s;]+)/imu.exec(head) ?? []
  const isFile = /;\s*filename\*?=/iu.test(line)
  return { name, isFile, contentType: contentType?.toLowerCase() }
}

function malformed(problem: string): HttpError {
  return new HttpError(400, `The multipart body ${problem}.`)
}
