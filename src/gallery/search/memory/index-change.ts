import assert from 'node:assert/strict'
import { assertTemplateVector, type TemplateVector } from '../../calibration/score.ts'

/** One step of a gallery's history: a template as it is from now on, or none any more. */
export type IndexChange = {
  /** Number of the change in its gallery's history, from 1; changes of one transaction share it. */
  readonly sequence: number
  readonly templateId: string
  /** Left out when the template was removed. */
  readonly template?: IndexedTemplate | undefined
}

export type IndexedTemplate = TemplateVector & {
  readonly modelId: string
  readonly subjectId: string
  readonly groups: readonly string[]
}

/** Changes on their way to the thread that owns the index: the vectors one after the other. */
export type PackedChanges = {
  readonly changes: readonly PackedChange[]
  /** Moved, not copied; the thread that unpacks it zeroes it. */
  readonly vectors: Float32Array<ArrayBuffer>
}

type PackedChange = Omit<IndexChange, 'template'> & {
  readonly template?: Omit<IndexedTemplate, 'vector'> & { readonly dimensions: number }
}

export function packChanges(changes: readonly IndexChange[]): PackedChanges {
  let floats = 0
  for (const { template } of changes) floats += template?.vector.length ?? 0
  const vectors = new Float32Array(floats)
  let at = 0
  const packed = changes.map(({ sequence, templateId, template }): PackedChange => {
    assert.ok(Number.isSafeInteger(sequence) && sequence > 0, 'changes are numbered from 1')
    if (!template) return { sequence, templateId }
    assertTemplateVector(template)
    const { vector, ...rest } = template
    vectors.set(vector, at)
    at += vector.length
    return { sequence, templateId, template: { ...rest, dimensions: vector.length } }
  })
  return { changes: packed, vectors }
}

/** The changes again; each vector is a view that is good until the next one is asked for. */
export function* unpackChanges({ changes, vectors }: PackedChanges): Generator<IndexChange> {
  let at = 0
  try {
    for (const { sequence, templateId, template } of changes) {
      if (!template) {
        yield { sequence, templateId }
        continue
      }
      const { dimensions, ...rest } = template
      const vector = vectors.subarray(at, at + dimensions)
      at += dimensions
      yield { sequence, templateId, template: { ...rest, vector } }
    }
  } finally {
    vectors.fill(0)
  }
}
