import assert from 'node:assert/strict'

/**
 * Subject id → its row. UUIDs are found by a hash table that contains only row numbers, because the rows
 * contain the ids. Other ids are kept as texts.
 */
export type SubjectRows = ReturnType<typeof createSubjectRows>

/** The words of the subject id of a row, and their offset. */
export type IdWords = { readonly words: Uint32Array; readonly offset: number }

/** Each part grows alone: moving the largest of ten million subjects takes a few milliseconds. */
const partCount = 256
const partSlotsMin = 8
/** A part doubles when more of its slots are used. */
const usedShareMax = 0.75

/** @param idOf returns the subject id in a row. */
export function createSubjectRows(idOf: (row: number) => IdWords) {
  const parts: RowSlots[] = []
  const texts = new Map<string, number>()
  const key = new Uint32Array(idWords)
  const hashOf = (row: number): number => {
    const { words, offset } = idOf(row)
    return hashIdWords(words, offset)
  }
  const isKey = (row: number): boolean => isEqualId(idOf(row), key)
  /** Returns the part of the ids with a hash. */
  const partOf = (hash: number): RowSlots => (parts[hash % partCount] ??= new RowSlots(hashOf))
  const findKey = (): number | undefined => {
    const hash = hashIdWords(key, 0)
    return parts[hash % partCount]?.find(hash, isKey)
  }
  let rows = 0
  const addRow = (row: number): void => {
    const hash = hashOf(row)
    partOf(hash).add(hash, row)
    rows++
  }
  return {
    /** Does the same for a UUID, which is read from the row. */
    addRow,
    /** Finds a subject by the words of its id. */
    getByWords: ({ words, offset }: IdWords): number | undefined => {
      for (let index = 0; index < idWords; index++) key[index] = words[offset + index] ?? 0
      return findKey()
    },
    get: (subjectId: string): number | undefined =>
      writeIdWords(subjectId, key, 0) ? findKey() : texts.get(subjectId),
    /** Adds a subject that is not contained. Its row must contain its id already. */
    add: (subjectId: string, row: number): void => {
      if (writeIdWords(subjectId, key, 0)) addRow(row)
      else texts.set(subjectId, row)
    },
    /** Removes a subject. Its row must still contain its id. */
    remove: (subjectId: string): void => {
      if (writeIdWords(subjectId, key, 0)) {
        const hash = hashIdWords(key, 0)
        if (partOf(hash).remove(hash, isKey)) rows--
      } else texts.delete(subjectId)
    },
    clear: (): void => {
      parts.length = 0
      texts.clear()
      rows = 0
    },
    size: (): number => rows + texts.size,
    bytes: (): number => parts.reduce((sum, part) => sum + part.bytes(), 0),
  }
}

function isEqualId({ words, offset }: IdWords, key: Uint32Array): boolean {
  for (let index = 0; index < idWords; index++)
    if (words[offset + index] !== key[index]) return false
  return true
}

/**
 * Bits of a slot that contain a row number plus one: more rows of the smallest size than the shared
 * memory can contain.
 */
const rowBits = 27
const rowMask = 2 ** rowBits - 1

/**
 * A hash table of row numbers with linear probing. A slot contains a row number plus one, or 0. Its
 * other bits are those of the hash, so that few ids of other subjects are read and compared.
 */
class RowSlots {
  #slots = new Uint32Array(partSlotsMin)
  #used = 0
  readonly #hashOf: (row: number) => number

  constructor(hashOf: (row: number) => number) {
    this.#hashOf = hashOf
  }

  find(hash: number, isKey: (row: number) => boolean): number | undefined {
    const slot = this.#findSlot(hash, isKey)
    return slot === undefined ? undefined : rowOf(this.#slots[slot] ?? 0)
  }

  add(hash: number, row: number): void {
    assert.ok(row < rowMask)
    if (this.#used + 1 > this.#slots.length * usedShareMax) this.#grow()
    this.#insert(hash, row)
    this.#used++
  }

  remove(hash: number, isKey: (row: number) => boolean): boolean {
    const found = this.#findSlot(hash, isKey)
    if (found === undefined) return false
    const slots = this.#slots
    const mask = slots.length - 1
    // Moves later entries of the same run back, so that no entry becomes unreachable.
    let hole = found
    for (let slot = (hole + 1) & mask; slots[slot]; slot = (slot + 1) & mask) {
      const home = slotOf(this.#hashOf(rowOf(slots[slot] ?? 0)), mask)
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue
      slots[hole] = slots[slot] ?? 0
      hole = slot
    }
    slots[hole] = 0
    this.#used--
    return true
  }

  bytes(): number {
    return this.#slots.byteLength
  }

  #findSlot(hash: number, isKey: (row: number) => boolean): number | undefined {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = slotOf(hash, mask); ; slot = (slot + 1) & mask) {
      const value = slots[slot] ?? 0
      if (value === 0) return undefined
      const hasHashBits = ((value ^ hash) & ~rowMask) === 0
      if (hasHashBits && isKey(rowOf(value))) return slot
    }
  }

  #insert(hash: number, row: number): void {
    const mask = this.#slots.length - 1
    let slot = slotOf(hash, mask)
    while (this.#slots[slot]) slot = (slot + 1) & mask
    this.#slots[slot] = (hash & ~rowMask) | (row + 1)
  }

  #grow(): void {
    const earlier = this.#slots
    this.#slots = new Uint32Array(earlier.length * 2)
    for (const value of earlier) {
      if (value === 0) continue
      const row = rowOf(value)
      this.#insert(this.#hashOf(row), row)
    }
  }
}

function rowOf(value: number): number {
  return (value & rowMask) - 1
}

/** The low bits of a hash are those of the part. */
function slotOf(hash: number, mask: number): number {
  return Math.floor(hash / partCount) & mask
}

/** Ids of subjects and faces as four 32-bit words, a tenth of the memory of a string. */

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
function hashIdWords(words: Uint32Array, offset: number): number {
  let hash = 0
  for (let index = 0; index < idWords; index++) {
    hash = Math.imul(hash ^ (words[offset + index] ?? 0), 0x9e37_79b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0x85eb_ca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
