/** Ids of faces and subjects as four 32-bit words, a tenth of the memory of a string. */

/** Words of one id. */
export const idWords = 4

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

/** Writes the words of an id. @returns false for a text that is not a UUID in lower case. */
export function writeIdWords(id: string, words: Uint32Array, offset: number): boolean {
  if (!canonicalUuid.test(id)) return false
  words[offset] = Number.parseInt(id.slice(0, 8), 16)
  words[offset + 1] = Number.parseInt(id.slice(9, 13) + id.slice(14, 18), 16)
  words[offset + 2] = Number.parseInt(id.slice(19, 23) + id.slice(24, 28), 16)
  words[offset + 3] = Number.parseInt(id.slice(28, 36), 16)
  return true
}

export function readIdWords(words: Uint32Array, offset: number): string {
  const [a, b, c, d] = [0, 1, 2, 3].map((index) =>
    (words[offset + index] ?? 0).toString(16).padStart(8, '0'),
  ) as [string, string, string, string]
  return `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`
}

/** Returns a hash of 32 bits, also for ids that are numbered. */
export function hashIdWords(words: Uint32Array, offset: number): number {
  let hash = 0
  for (let index = 0; index < idWords; index++) {
    hash = Math.imul(hash ^ (words[offset + index] ?? 0), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0x85eb_ca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
