import type { ImageItem } from '../contract.ts'

export type ContentType = ImageItem['contentType']

/** What the bytes are, by their first ones; undefined for what the service does not read. */
export function sniffContentType(bytes: Uint8Array): ContentType | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xff && b === 0xd8 && c === 0xff) return 'image/jpeg'
  if (a === 0x89 && b === 0x50 && c === 0x4e && d === 0x47) return 'image/png'
  return undefined
}
