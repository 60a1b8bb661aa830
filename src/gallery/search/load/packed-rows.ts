import assert from 'node:assert/strict'
import { assertTemplateVector } from '../../calibration/score.ts'
import type { IndexedTemplate } from '../memory/index-change.ts'

/** A template of a gallery that is being loaded, with its face. */
export type LoadedTemplate = IndexedTemplate & { readonly faceId: string }

/**
 * Templates in the form in which one thread sends them to another: a few large values, because an
 * object per template would take longer to send than to decrypt.
 */
export type PackedRows = {
  /** Ids of faces and of their subjects, separated by line breaks. */
  readonly faceIds: string
  readonly subjectIds: string
  /** The distinct models and sets of groups, and the index of each row in them. */
  readonly modelIds: readonly string[]
  readonly models: Uint32Array<ArrayBuffer>
  readonly groupSets: readonly (readonly string[])[]
  readonly groups: Uint32Array<ArrayBuffer>
  /** +∞ for a subject that does not expire. */
  readonly expiriesMs: Float64Array<ArrayBuffer>
  readonly densities: Float64Array<ArrayBuffer>
  /** The number of values of each vector, and all vectors, one after another. */
  readonly dimensions: Uint32Array<ArrayBuffer>
  /** Transferred, not copied; the receiving thread zeroes them. */
  readonly vectors: Float32Array<ArrayBuffer>
}

const separator = '\n'

/** Packs templates and zeroes their vectors. */
export function packRows(rows: readonly LoadedTemplate[]): PackedRows {
  const models = createNumbering<string>((modelId) => modelId)
  const groupSets = createNumbering<readonly string[]>((groups) => JSON.stringify(groups))
  const vectors = new Float32Array(rows.reduce((sum, { vector }) => sum + vector.length, 0))
  let offset = 0
  for (const { vector, faceId, subjectId, ...rest } of rows) {
    assert.ok(!faceId.includes(separator) && !subjectId.includes(separator))
    assertTemplateVector({ vector, density: rest.density })
    vectors.set(vector, offset)
    offset += vector.length
    vector.fill(0)
  }
  return {
    faceIds: rows.map(({ faceId }) => faceId).join(separator),
    subjectIds: rows.map(({ subjectId }) => subjectId).join(separator),
    models: Uint32Array.from(rows, ({ modelId }) => models.numberOf(modelId)),
    modelIds: models.values,
    groups: Uint32Array.from(rows, (row) => groupSets.numberOf(row.groups)),
    groupSets: groupSets.values,
    expiriesMs: Float64Array.from(rows, ({ expiresAtMs }) => expiresAtMs ?? Infinity),
    densities: Float64Array.from(rows, ({ density }) => density),
    dimensions: Uint32Array.from(rows, ({ vector }) => vector.length),
    vectors,
  }
}

/** Yields the templates; zeroes all vectors at the end. Each vector is a view. */
export function* unpackRows(packed: PackedRows): Generator<LoadedTemplate> {
  const { modelIds, models, groupSets, groups, expiriesMs, densities, dimensions } = packed
  const subjectIds = packed.subjectIds.split(separator)
  let offset = 0
  try {
    for (const [row, faceId] of packed.faceIds.split(separator).entries()) {
      if (row === dimensions.length) return
      const vector = packed.vectors.subarray(offset, (offset += dimensions[row] ?? 0))
      yield {
        faceId,
        subjectId: subjectIds[row] ?? '',
        modelId: modelIds[models[row] ?? 0] ?? '',
        groups: groupSets[groups[row] ?? 0] ?? [],
        expiresAtMs: expiriesMs[row] ?? Infinity,
        density: densities[row] ?? 0,
        vector,
      }
    }
  } finally {
    packed.vectors.fill(0)
  }
}

/** Numbers the distinct values in the order in which they occur. */
function createNumbering<Value>(keyOf: (value: Value) => string) {
  const numbers = new Map<string, number>()
  const values: Value[] = []
  const findOrAdd = (value: Value): number => {
    const key = keyOf(value)
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, values.length)
    return values.push(value) - 1
  }
  // Successive rows often have the same value.
  let last: { readonly value: Value; readonly number: number } | undefined
  return {
    values: values as readonly Value[],
    numberOf: (value: Value): number => {
      if (last?.value !== value) last = { value, number: findOrAdd(value) }
      return last.number
    },
  }
}
