import { idWords, readIdWords, writeIdWords, type FaceIdWords } from './face-rows.ts'

/** The face of a row. */
export type RowOwner = {
  readonly faceId: string
  readonly subjectId: string
  /** From this time on, the subject is not found. */
  readonly expiresAtMs?: number | undefined
}

/** The faces of the rows of a block: 41 bytes each, without an object or a text per row. */
export type RowOwners = {
  readonly write: (index: number, owner: RowOwner) => void
  /** Writes the words of the face id and of the subject id, which are UUIDs; +∞: no expiry. */
  readonly writeWords: (index: number, ids: FaceIdWords, expiresAtMs: number) => void
  /** Returns undefined for an empty row. */
  readonly read: (index: number) => RowOwner | undefined
  readonly clear: (index: number) => void
  readonly clearAll: () => void
  /** Returns where the words of the face id of a row are, if it is a UUID. */
  readonly faceIdWords: (index: number) => FaceIdWords
  readonly bytes: number
}

/** A face id and a subject id. */
const ownerWords = 2 * idWords

const empty = 0
const hasUuids = 1
/** At least one of the ids is not a UUID. All ids of this service are UUIDs. */
const hasTexts = 2

export function createRowOwners(capacity: number): RowOwners {
  const words = new Uint32Array(capacity * ownerWords)
  const expiriesMs = new Float64Array(capacity)
  const states = new Uint8Array(capacity)
  const texts = new Map<number, RowOwner>()
  const clear = (index: number): void => {
    words.fill(0, index * ownerWords, (index + 1) * ownerWords)
    expiriesMs[index] = 0
    states[index] = empty
    texts.delete(index)
  }
  return {
    write: (index, { faceId, subjectId, expiresAtMs }) => {
      const offset = index * ownerWords
      expiriesMs[index] = expiresAtMs ?? Number.POSITIVE_INFINITY
      const isShort =
        writeIdWords(faceId, words, offset) && writeIdWords(subjectId, words, offset + idWords)
      states[index] = isShort ? hasUuids : hasTexts
      if (!isShort) texts.set(index, { faceId, subjectId })
    },
    writeWords: (index, { words: ids, offset }, expiresAtMs) => {
      const start = index * ownerWords
      for (let word = 0; word < ownerWords; word++) words[start + word] = ids[offset + word] ?? 0
      expiriesMs[index] = expiresAtMs
      states[index] = hasUuids
    },
    read: (index) => {
      if (states[index] === empty) return undefined
      const ids = texts.get(index) ?? {
        faceId: readIdWords(words, index * ownerWords),
        subjectId: readIdWords(words, index * ownerWords + idWords),
      }
      const expiresAtMs = expiriesMs[index] ?? Number.POSITIVE_INFINITY
      return expiresAtMs === Number.POSITIVE_INFINITY ? ids : { ...ids, expiresAtMs }
    },
    clear,
    clearAll: () => {
      words.fill(0)
      expiriesMs.fill(0)
      states.fill(empty)
      texts.clear()
    },
    faceIdWords: (index) => ({ words, offset: index * ownerWords }),
    bytes: words.byteLength + expiriesMs.byteLength + states.byteLength,
  }
}
