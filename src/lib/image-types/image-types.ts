import signatures from './signatures.json' with { type: 'json' }

/** The file types that the setting IMAGE_TYPES_EXTRA can add to JPEG and PNG. */
export const extraImageTypes = ['webp', 'gif', 'avif', 'tiff'] as const

export type ExtraImageType = (typeof extraImageTypes)[number]

/** Content type → file type, as `sniffFileType` names it. */
const fileTypes = {
  'image/jpeg': 'JPEG',
  'image/jpg': 'JPEG',
  'image/png': 'PNG',
  'image/webp': 'WebP',
  'image/gif': 'GIF',
  'image/avif': 'AVIF',
  'image/tiff': 'TIFF',
} as const

export type ImageContentType = keyof typeof fileTypes
export type ImageFileType = (typeof fileTypes)[ImageContentType]

/** The content types that every server accepts. */
const standardContentTypes = [
  'image/jpeg',
  'image/jpg',
  'image/png',
] as const satisfies readonly ImageContentType[]

/** Every content type that a server can accept. */
export const contentTypes = [
  ...standardContentTypes,
  ...extraImageTypes.map((type) => `image/${type}` as const),
] as const

export function isImageContentType(text: unknown): text is ImageContentType {
  return typeof text === 'string' && Object.hasOwn(fileTypes, text)
}

/** Returns the content types that a server with these extra types accepts. */
export function acceptedContentTypes(
  extraTypes: readonly ExtraImageType[] = [],
): readonly ImageContentType[] {
  return [...standardContentTypes, ...extraTypes.map((type) => `image/${type}` as const)]
}

/** Returns the names of the file types that a server with these extra types accepts, for messages. */
export function acceptedFileTypes(extraTypes: readonly ExtraImageType[] = []): ImageFileType[] {
  return [...new Set(acceptedContentTypes(extraTypes).map(fileTypeOf))]
}

export function fileTypeOf(contentType: ImageContentType): ImageFileType {
  return fileTypes[contentType]
}

/** Returns the content type that the first bytes indicate; undefined for any other file type. */
export function contentTypeOf(bytes: Uint8Array): ImageContentType | undefined {
  const fileType = sniffFileType(bytes)
  return contentTypes.find((contentType) => fileTypes[contentType] === fileType)
}

/**
 * Returns the file type that the first bytes indicate, decodable or not; `undefined` for an unknown one.
 * `signatures.json` has the magic numbers of the specifications, as Latin-1; all parts of one must
 * match. That of PNG is complete, because its last bytes reveal a transfer that changed line ends. That
 * of BMP has the reserved words of the header, because two letters are not enough.
 */
export function sniffFileType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, headBytes))
  const start = head.toString('latin1')
  if (hasAvifBrand(start)) return 'AVIF'
  const isAt = ({ offset, text }: (typeof signatures)[number]['parts'][number]): boolean =>
    start.startsWith(text, offset)
  return (
    signatures.find(({ parts }) => parts.every(isAt))?.name ??
    textSignatures.find(({ pattern }) => pattern.test(head.toString('utf8')))?.name
  )
}

/** The brands of a file type box begin at this byte; each has four letters (ISO/IEC 14496-12). */
const brandsStart = 8
const brandLength = 4
const brandsEndMax = 128

/** AVIF files name their type as the main brand, or as one of the compatible brands of a HEIF file. */
function hasAvifBrand(start: string): boolean {
  // The box is shorter than 64 KiB. The zeros exclude a JPEG whose first segment begins with `ftyp`.
  if (!start.startsWith('\0\0') || !start.startsWith('ftyp', 4)) return false
  const isHeif = start.startsWith('mif1', brandsStart) || start.startsWith('msf1', brandsStart)
  const boxLength = Buffer.from(start.slice(0, 4), 'latin1').readUInt32BE()
  const end = isHeif ? Math.min(boxLength, brandsEndMax) : brandsStart + brandLength
  for (let index = brandsStart; index + brandLength <= end; index += brandLength)
    if (['avif', 'avis'].includes(start.slice(index, index + brandLength))) return true
  return false
}

/** Enough for an XML prologue and a licence comment before the first `<svg`. */
const headBytes = 1024

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
