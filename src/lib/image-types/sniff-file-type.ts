/**
 * Returns the file type that the first bytes indicate; `undefined` for an unknown type.
 *
 * Only JPEG and PNG are decoded. The names of the other types are used in error messages.
 */
export function sniffFileType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes))
  const start = head.toString('latin1')
  return (
    signatures.find(({ parts }) => parts.every(([offset, text]) => start.startsWith(text, offset)))
      ?.name ?? textSignatures.find(({ pattern }) => pattern.test(head.toString('utf8')))?.name
  )
}

/** Enough for an XML prologue and a licence comment before the first `<svg`. */
const headBytes = 1024

type Signature = {
  readonly name: string
  /** The bytes at each offset, as Latin-1; all parts must match. */
  readonly parts: readonly (readonly [offset: number, text: string])[]
}

/** Magic numbers from the specifications of the formats. */
const signatures: readonly Signature[] = [
  { name: 'JPEG', parts: [[0, '\xff\xd8\xff']] },
  // The whole signature: its last bytes reveal a transfer that changed line ends.
  { name: 'PNG', parts: [[0, '\x89PNG\r\n\x1a\n']] },
  { name: 'GIF', parts: [[0, 'GIF8']] },
  {
    name: 'WebP',
    parts: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
  { name: 'TIFF', parts: [[0, 'II*\0']] },
  { name: 'TIFF', parts: [[0, 'MM\0*']] },
  { name: 'AVIF', parts: [[4, 'ftypavi']] },
  { name: 'HEIC', parts: [[4, 'ftyphe']] },
  { name: 'HEIF', parts: [[4, 'ftypmif1']] },
  { name: 'HEIF', parts: [[4, 'ftypmsf1']] },
  { name: 'MP4', parts: [[4, 'ftyp']] },
  { name: 'JPEG XL', parts: [[0, '\xff\x0a']] },
  { name: 'JPEG XL', parts: [[4, 'JXL \r\n']] },
  { name: 'JPEG 2000', parts: [[4, 'jP  \r\n']] },
  { name: 'JPEG 2000', parts: [[0, '\xff\x4f\xff\x51']] },
  { name: 'Photoshop', parts: [[0, '8BPS\0']] },
  { name: 'PDF', parts: [[0, '%PDF-']] },
  { name: 'ZIP', parts: [[0, 'PK\x03\x04']] },
  { name: 'gzip', parts: [[0, '\x1f\x8b\x08']] },
  { name: 'ICO', parts: [[0, '\0\0\x01\0']] },
  { name: 'ICO', parts: [[0, '\0\0\x02\0']] },
  // Two letters are not enough: the reserved words of the header must also be zero.
  {
    name: 'BMP',
    parts: [
      [0, 'BM'],
      [6, '\0\0\0\0'],
    ],
  },
]

const textSignatures = [
  {
    name: 'SVG',
    // A comment ends at its first `-->`: if it could end at a later one, the number of ways to match
    // many comments would be exponential.
    pattern:
      /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/iu,
  },
  { name: 'HTML', pattern: /^\uFEFF?\s*<(?:!doctype html|html)/iu },
]
