import { idWords, readIdWords, writeIdWords, type IdWords } from './subject-rows.ts'

/** The subject of a row. */
export type RowOwner = {
  readonly subjectId: string
  /** The number of faces that the template of the row was merged from. */
  readonly faces: number
  /** The face, if it is the only one. */
  readonly faceId?: string | undefined
  /** From this time on, the subject is not found. */
  readonly expiresAtMs?: number | undefined
}

type RowOwnerIds = Pick<RowOwner, 'subjectId' | 'faceId'>

/** The owner of a row that has UUIDs only. */
export type RowOwnerWords = {
  /** The words of the subject id and of the face id, which are zeros with several faces. */
  readonly ids: IdWords
  readonly faces: number
  /** +∞: no expiry. */
  readonly expiresAtMs: number
}

/** The subjects of the rows of a block: 45 bytes each, without an object or a text per row. */
export type RowOwners = ReturnType<typeof createRowOwners>

/** A subject id and a face id. */
export const ownerWords = 2 * idWords

const empty = 0
const hasUuids = 1
/** At least one of the ids is not a UUID. All ids of this service are UUIDs. */
const hasTexts = 2

export function createRowOwners(capacity: number) {
  const words = new Uint32Array(capacity * ownerWords)
  const faceCounts = createFaceCounts(capacity)
  const expiriesMs = new Float64Array(capacity)
  const states = new Uint8Array(capacity)
  const texts = new Map<number, RowOwnerIds>()
  return {
    write: (index: number, owner: RowOwner): void => {
      const { subjectId, faceId, faces, expiresAtMs } = owner
      faceCounts.set(index, faces)
      expiriesMs[index] = expiresAtMs ?? Number.POSITIVE_INFINITY
      const isShort = writeOwnerIds(owner, words, index * ownerWords)
      states[index] = isShort ? hasUuids : hasTexts
      if (!isShort) texts.set(index, faceId === undefined ? { subjectId } : { subjectId, faceId })
    },
    writeWords: (index: number, { ids, faces, expiresAtMs }: RowOwnerWords): void => {
      const start = index * ownerWords
      for (let word = 0; word < ownerWords; word++)
        words[start + word] = ids.words[ids.offset + word] ?? 0
      faceCounts.set(index, faces)
      expiriesMs[index] = expiresAtMs
      states[index] = hasUuids
    },
    /** Returns undefined for an empty row. */
    read: (index: number): RowOwner | undefined => {
      if (states[index] === empty) return undefined
      const faces = faceCounts.get(index)
      const ids = texts.get(index) ?? readOwnerIds(words, index * ownerWords, faces)
      const owner = { ...ids, faces }
      const expiresAtMs = expiriesMs[index] ?? Number.POSITIVE_INFINITY
      return expiresAtMs === Number.POSITIVE_INFINITY ? owner : { ...owner, expiresAtMs }
    },
    /** Returns the number of faces of all rows. */
    faces: faceCounts.total,
    clear: (index: number): void => {
      words.fill(0, index * ownerWords, (index + 1) * ownerWords)
      faceCounts.set(index, 0)
      expiriesMs[index] = 0
      states[index] = empty
      texts.delete(index)
    },
    clearAll: (): void => {
      words.fill(0)
      faceCounts.clear()
      expiriesMs.fill(0)
      states.fill(empty)
      texts.clear()
    },
    /** Returns where the words of the subject id of a row are, if it is a UUID. */
    subjectIdWords: (index: number): IdWords => ({ words, offset: index * ownerWords }),
    bytes: words.byteLength + faceCounts.bytes + expiriesMs.byteLength + states.byteLength,
  }
}

/** The number of faces of each row, and their sum. */
function createFaceCounts(capacity: number) {
  const counts = new Uint32Array(capacity)
  let total = 0
  return {
    get: (index: number): number => counts[index] ?? 0,
    set: (index: number, faces: number): void => {
      total += faces - (counts[index] ?? 0)
      counts[index] = faces
    },
    total: (): number => total,
    clear: (): void => {
      counts.fill(0)
      total = 0
    },
    bytes: counts.byteLength,
  }
}

function readOwnerIds(words: Uint32Array, offset: number, faces: number): RowOwnerIds {
  const subjectId = readIdWords(words, offset)
  return faces === 1 ? { subjectId, faceId: readIdWords(words, offset + idWords) } : { subjectId }
}

/** Writes the words of the ids of an owner. @returns false if one of them is not a UUID. */
export function writeOwnerIds(
  { subjectId, faceId }: RowOwnerIds,
  words: Uint32Array,
  offset: number,
): boolean {
  if (!writeIdWords(subjectId, words, offset)) return false
  return faceId === undefined || writeIdWords(faceId, words, offset + idWords)
}
