/** Ids of faces and subjects as four 32-bit words, a tenth of the memory of a string. */

/** Words of one id. */
export const idWords = 4

/** Characters of a UUID, and the positions of its hyphens. */
const uuidLength = 36
const isHyphen = Uint8Array.from({ length: uuidLength }, (_, index) =>
  [8, 13, 18, 23].includes(index) ? 1 : 0,
)
const notHex = 255
/** Character code → its value as a digit in lower case. */
const hexValues = new Uint8Array(128).fill(notHex)
for (let value = 0; value < 16; value++) hexValues[value.toString(16).charCodeAt(0)] = value
const hyphen = '-'.charCodeAt(0)

/** Writes the words of an id. @returns false for a text that is not a UUID in lower case. */
export function writeIdWords(id: string, words: Uint32Array, offset: number): boolean {
  if (id.length !== uuidLength) return false
  let digits = 0
  let word = 0
  for (let index = 0; index < uuidLength; index++) {
    const code = id.charCodeAt(index)
    if (isHyphen[index] === 1) {
      if (code !== hyphen) return false
      continue
    }
    const value = code < hexValues.length ? (hexValues[code] ?? notHex) : notHex
    if (value === notHex) return false
    word = (word << 4) | value
    digits++
    if (digits % 8 === 0) words[offset + digits / 8 - 1] = word
  }
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
