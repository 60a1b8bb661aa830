import type { ImageItem } from '../contract.ts'

export type ContentType = ImageItem['contentType']

/** Detects the type from the first bytes; undefined if it is neither JPEG nor PNG. */
export function sniffContentType(bytes: Uint8Array): ContentType | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xd8 && c === 0xff) return 'image/jpeg'
  if (a === 0x89 && b === 0x50 && c === 0x4e && d === 0x47) return 'image/png'
  return undefined
}
