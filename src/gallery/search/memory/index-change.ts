import assert from 'node:assert/strict'
import { assertTemplateVector, type TemplateVector } from '../../calibration/similarity.ts'

/** A change of one face: its new template, or its removal. */
export type IndexChange = {
  /** Number of the change in its gallery, from 1. Changes of one transaction have the same number. */
  readonly sequence: number
  readonly faceId: string
  /** Omitted if the face was removed. */
  readonly template?: IndexedTemplate | undefined
}

export type IndexedTemplate = TemplateVector & {
  readonly modelId: string
  readonly subjectId: string
  readonly groups: readonly string[]
  /** From this time on, the subject is not found. */
  readonly expiresAtMs?: number | undefined
}

/** Changes in the form in which they are sent to the index thread. */
export type PackedChanges = {
  readonly changes: readonly PackedChange[]
  /** All vectors, concatenated. Transferred, not copied; the receiving thread zeroes them. */
  readonly vectors: Float32Array<ArrayBuffer>
}

type PackedChange = Omit<IndexChange, 'template'> & {
  readonly template?: Omit<IndexedTemplate, 'vector'> & { readonly dimensions: number }
}

export function packChanges(changes: readonly IndexChange[]): PackedChanges {
  let length = 0
  for (const { template } of changes) length += template?.vector.length ?? 0
  const vectors = new Float32Array(length)
  let offset = 0
  const packed = changes.map(({ sequence, faceId, template }): PackedChange => {
    assert.ok(Number.isSafeInteger(sequence) && sequence > 0, 'changes are numbered from 1')
    if (!template) return { sequence, faceId }
    assertTemplateVector(template)
    const { vector, ...rest } = template
    vectors.set(vector, offset)
    offset += vector.length
    return { sequence, faceId, template: { ...rest, dimensions: vector.length } }
  })
  return { changes: packed, vectors }
}

/** Yields the changes; zeroes all vectors at the end. Each vector is a view. */
export function* unpackChanges({ changes, vectors }: PackedChanges): Generator<IndexChange> {
  let offset = 0
  try {
    for (const { sequence, faceId, template } of changes) {
      if (!template) {
        yield { sequence, faceId }
        continue
      }
      const { dimensions, ...rest } = template
      const vector = vectors.subarray(offset, offset + dimensions)
      offset += dimensions
      yield { sequence, faceId, template: { ...rest, vector } }
    }
  } finally {
    vectors.fill(0)
  }
}
