/**
 * Decodes base64 exactly as RFC 4648 section 4 defines it: standard alphabet, padded, no white
 * space, no `data:` prefix, unused bits zero. Returns `undefined` for any other text.
 *
 * `Buffer.from` skips invalid characters. Therefore the bytes are encoded again and compared: only
 * a canonical text equals the encoding of its bytes. This is faster than a regular expression.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Returns the maximum number of bytes in a padded base64 text, without decoding it. */
export function base64BytesMax(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor(text.length / 4) * 3 - padding
}
