import assert from 'node:assert/strict'
import { concatenate } from '../../../lib/density/vectors.ts'
import { assertTemplateVector } from '../../calibration/similarity.ts'
import type { SubjectTemplate } from '../../match.ts'

/** A change of one subject: its new templates, or its removal. */
export type IndexChange = {
  /** Number of the change in its gallery, from 1. Changes of one transaction have the same number. */
  readonly sequence: number
  readonly subjectId: string
  /** One per model; empty if the subject has no face that can be compared. */
  readonly templates: readonly IndexedTemplate[]
}

export type IndexedTemplate = SubjectTemplate & {
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

type PackedChange = Omit<IndexChange, 'templates'> & {
  readonly templates: readonly (Omit<IndexedTemplate, 'vector'> & { readonly dimensions: number })[]
}

export function packChanges(changes: readonly IndexChange[]): PackedChanges {
  const vectors = changes.flatMap(({ templates }) => templates.map(({ vector }) => vector))
  const packed = changes.map(({ sequence, subjectId, templates }): PackedChange => {
    assert.ok(Number.isSafeInteger(sequence) && sequence > 0, 'changes are numbered from 1')
    const withoutVectors = templates.map((template) => {
      assertTemplateVector(template)
      const { vector, ...rest } = template
      return { ...rest, dimensions: vector.length }
    })
    return { sequence, subjectId, templates: withoutVectors }
  })
  return { changes: packed, vectors: concatenate(vectors) }
}

/** Yields the changes; zeroes all vectors at the end. Each vector is a view. */
export function* unpackChanges({ changes, vectors }: PackedChanges): Generator<IndexChange> {
  let offset = 0
  try {
    for (const { templates, ...change } of changes) {
      const withVectors = templates.map(({ dimensions, ...rest }) => {
        const vector = vectors.subarray(offset, offset + dimensions)
        offset += dimensions
        return { ...rest, vector }
      })
      yield { ...change, templates: withVectors }
    }
  } finally {
    vectors.fill(0)
  }
}
