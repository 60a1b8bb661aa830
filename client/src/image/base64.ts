/** Bytes that `btoa` gets at once: a multiple of 3, so that only the last piece is padded. */
const chunkBytes = 0x6000

/** Base64 (RFC 4648 section 4, padded), with what every platform has. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + chunkBytes))))
  return pieces.join('')
}

/** The first bytes of a base64 text; empty when it is none. */
export function decodeFirstBytes(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64.slice(0, 8)), (letter) => letter.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
