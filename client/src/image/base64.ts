/** The bytes of one `btoa` call: a multiple of 3, so that only the last chunk is padded. */
const chunkBytes = 0x6000

/** Returns base64 (RFC 4648 section 4, padded), using functions of every platform. */
export function toBase64(bytes: Uint8Array): string {
  const chunks: string[] = []
  for (let start = 0; start < bytes.length; start += chunkBytes)
    chunks.push(btoa(String.fromCharCode(...bytes.subarray(start, start + chunkBytes))))
  return chunks.join('')
}

/** Returns the first bytes of a base64 text; empty if the text is not base64. */
export function decodeFirstBytes(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64.slice(0, 8)), (letter) => letter.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
