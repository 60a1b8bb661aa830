import { inflateSync } from 'node:zlib'

/**
 * The most chunks of a PNG without pixels, and the total size of its texts and colour profiles when
 * inflated. A photograph has a few dozen and some hundred kilobytes. The decoder inflates each text:
 * five megabytes of compressed text take seconds, as do 700,000 empty chunks of another type.
 */
export const metadataChunksMax = 1000
export const metadataBytesMax = 8 * 1024 * 1024
export const metadataLimits = {
  chunks: `${metadataChunksMax} chunks`,
  bytes: `${metadataBytesMax} bytes when inflated`,
}

/**
 * Returns which limit the chunks of a PNG exceed: their number, or the bytes of its texts and colour
 * profiles (ISO/IEC 15948: tEXt, zTXt, iTXt, iCCP); undefined if none. Damaged compressed content counts with the most bytes that it can inflate
 * to, so that all chunks together cost no more time than `metadataBytesMax` bytes.
 */
export function exceededMetadataLimit(bytes: Uint8Array): 'chunks' | 'bytes' | undefined {
  let chunks = 0
  let remainingBytes = metadataBytesMax
  for (const { type, data } of pngChunks(bytes)) {
    if (type === 'IHDR' || type === 'IDAT') continue
    chunks += 1
    if (chunks > metadataChunksMax) return 'chunks'
    const text = readers.get(type)?.(data)
    const size = text?.isCompressed
      ? inflatedSize(text.content, remainingBytes)
      : (text?.content.length ?? 0)
    remainingBytes -= size
    if (remainingBytes < 0) return 'bytes'
  }
  return undefined
}

/** Whether one of the first chunks of a PNG makes colours transparent. */
export function hasTransparentColours(bytes: Uint8Array): boolean {
  const firstChunks = pngChunks(bytes).take(metadataChunksMax + 2)
  return firstChunks.some(({ type }) => type === 'tRNS')
}

const signatureBytes = 8
/** The length and the type before the data of a chunk, and the checksum after it. */
const chunkHeadBytes = 8
const checksumBytes = 4

/** Yields the chunks up to the end of the image, or up to the first incomplete one. */
export function* pngChunks(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let offset = signatureBytes; offset + chunkHeadBytes <= bytes.length;) {
    const start = offset + chunkHeadBytes
    const end = start + view.getUint32(offset)
    const type = String.fromCharCode(...bytes.subarray(offset + 4, start))
    if (type === 'IEND' || end > bytes.length) return
    yield { type, data: bytes.subarray(start, end) }
    offset = end + checksumBytes
  }
}

/** The content of a chunk after its keyword. */
type ChunkText = { readonly isCompressed: boolean; readonly content: Uint8Array }

/** Each reader returns undefined for a damaged chunk. */
const readers: ReadonlyMap<string, (data: Uint8Array) => ChunkText | undefined> = new Map([
  ['tEXt', (data) => ({ isCompressed: false, content: data })],
  ['zTXt', readCompressed],
  ['iCCP', readCompressed],
  ['iTXt', readInternational],
])

/** A keyword, NUL, the compression method, the compressed content. */
function readCompressed(data: Uint8Array): ChunkText | undefined {
  const keywordEnd = data.indexOf(0)
  if (keywordEnd === -1) return undefined
  return { isCompressed: true, content: data.subarray(keywordEnd + 2) }
}

/** A keyword, NUL, a flag, the compression method, a language, NUL, another keyword, NUL, the text. */
function readInternational(data: Uint8Array): ChunkText | undefined {
  const keywordEnd = data.indexOf(0)
  const languageEnd = data.indexOf(0, keywordEnd + 3)
  const translationEnd = data.indexOf(0, languageEnd + 1)
  if ([keywordEnd, languageEnd, translationEnd].includes(-1)) return undefined
  return {
    isCompressed: data[keywordEnd + 1] === 1,
    content: data.subarray(translationEnd + 1),
  }
}

/** The highest compression ratio of deflate (RFC 1951): 258 bytes in two bits. */
const inflateRatioMax = 1032

/** Returns the inflated size, or its upper bound for damaged content; `max + 1` if it exceeds `max`. */
function inflatedSize(content: Uint8Array, max: number): number {
  try {
    return inflateSync(content, { maxOutputLength: max + 1 }).length
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === tooLargeCode
    return isTooLarge ? max + 1 : content.length * inflateRatioMax
  }
}

/** The error code of zlib for output above `maxOutputLength`. */
const tooLargeCode = 'ERR_BUFFER_TOO_LARGE'
