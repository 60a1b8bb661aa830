/**
 * The bytes of `text` when it is base64 exactly as RFC 4648 section 4 writes it: its alphabet,
 * padded, no white space, no `data:` prefix, unused bits zero. Anything else gives `undefined`.
 *
 * `Buffer.from` skips what it does not know, so the strictness comes from the way back: only a
 * canonical text is what its own bytes encode to. That costs less than a regular expression.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** How many bytes a padded base64 text of this length holds at most; nothing is decoded. */
export function base64BytesMax(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor(text.length / 4) * 3 - padding
}
