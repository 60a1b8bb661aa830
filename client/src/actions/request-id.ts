/**
 * Returns a random UUID (RFC 9562, version 4). It does not use `crypto.randomUUID`, because browsers
 * do not offer that to pages loaded over plain HTTP, such as those of a kiosk in a local network.
 */
export function generateRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [8, 12, 16, 20].reduceRight(
    (text, index) => `${text.slice(0, index)}-${text.slice(index)}`,
    hex,
  )
}
