import assert from 'node:assert/strict'
import { assertTemplateVector } from '../../calibration/similarity.ts'
import type { IndexedTemplate } from '../memory/index-change.ts'
import { ownerWords, writeOwnerIds } from '../table/row-owners.ts'

/** The template of a subject of a gallery that is being loaded. */
export type LoadedTemplate = IndexedTemplate & { readonly subjectId: string }

/**
 * Templates in the form in which one thread sends them to another: one large value, because an object
 * per template would take longer to send than to decrypt. A page in the database contains the same
 * bytes, encrypted.
 */
export type PackedRows = {
  readonly header: PackedHeader
  /** The header as JSON and the columns of all sections. Transferred, not copied. */
  readonly bytes: ArrayBuffer
}

export type PackedHeader = {
  /** The rows of each model. */
  readonly sections: readonly SectionHeader[]
  /** The distinct sets of groups; rows have an index of this list. */
  readonly groupSets: readonly (readonly string[])[]
}

export type SectionHeader = {
  readonly modelId: string
  readonly dimensions: number
  readonly rows: number
  /** The ids of rows with an id that is not a UUID. All ids of this service are UUIDs. */
  readonly texts: readonly TextIds[]
}

type TextIds = Pick<LoadedTemplate, 'subjectId' | 'faceId'> & { readonly row: number }

/** The rows of one model. All columns are views of the packed bytes. */
export type PackedSection = ReturnType<typeof unpackSections>[number]

/** The length of the JSON text of the header. */
const lengthBytes = 4
/** Columns begin at multiples of the size of their values. */
const alignment = 8

/** Packs templates and zeroes their vectors. */
export function packRows(rows: readonly LoadedTemplate[]): PackedRows {
  const groupSets = createNumbering<readonly string[]>((groups) => JSON.stringify(groups))
  const groupOfRow = new Map(rows.map((row) => [row, groupSets.numberOf(row.groups)]))
  const byModel = [...Map.groupBy(rows, ({ modelId }) => modelId)]
  const sections = byModel.map(([modelId, templates]): SectionHeader => ({
    modelId,
    dimensions: templates[0]?.vector.length ?? 0,
    rows: templates.length,
    texts: templates.flatMap((template, row) => textIdsOf(template, row) ?? []),
  }))
  const header: PackedHeader = { sections, groupSets: groupSets.values }
  const text = Buffer.from(JSON.stringify(header))
  const packed = { header, bytes: new ArrayBuffer(packedBytes(header, text.length)) }
  new Uint32Array(packed.bytes, 0, 1)[0] = text.length
  new Uint8Array(packed.bytes, lengthBytes, text.length).set(text)
  for (const [index, section] of unpackSections(packed).entries())
    writeSection(section, byModel[index]?.[1] ?? [], (row) => groupOfRow.get(row) ?? 0)
  return packed
}

function textIdsOf(template: LoadedTemplate, row: number): TextIds | undefined {
  if (writeOwnerIds(template, new Uint32Array(ownerWords), 0)) return undefined
  const { subjectId, faceId } = template
  return { row, subjectId, ...(faceId !== undefined && { faceId }) }
}

function writeSection(
  { ids, faces, groups, expiriesMs, densities, vectors, dimensions }: PackedSection,
  rows: readonly LoadedTemplate[],
  groupOf: (row: LoadedTemplate) => number,
): void {
  for (const [index, row] of rows.entries()) {
    const { vector, density, expiresAtMs } = row
    assert.equal(vector.length, dimensions, 'all vectors of a model have the same dimensions')
    assertTemplateVector({ vector, density })
    writeOwnerIds(row, ids, index * ownerWords)
    faces[index] = row.faces
    groups[index] = groupOf(row)
    expiriesMs[index] = expiresAtMs ?? Infinity
    densities[index] = density
    vectors.set(vector, index * dimensions)
    vector.fill(0)
  }
}

/**
 * Reads the header of packed bytes.
 *
 * @throws Error if the bytes have another length than their header requires.
 */
export function openPackedRows(bytes: ArrayBuffer): PackedRows {
  const [length = 0] = new Uint32Array(bytes, 0, 1)
  const text = Buffer.from(bytes, lengthBytes, length)
  // Only `packRows` writes this text, and its encryption detects every change.
  const header = JSON.parse(text.toString()) as PackedHeader
  assert.equal(bytes.byteLength, packedBytes(header, length), 'the columns have the stated length')
  return { header, bytes }
}

/** Returns the number of faces that the rows were merged from. */
export function countFaces(packed: PackedRows): number {
  const counts = unpackSections(packed).flatMap(({ faces }) => [...faces])
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Returns the columns of all models. */
export function unpackSections({ header, bytes }: PackedRows) {
  const [headerLength = 0] = new Uint32Array(bytes, 0, 1)
  let offset = columnsOffset(headerLength)
  return header.sections.map((section) => {
    const { rows, dimensions } = section
    const start = offset
    offset += sectionBytes(section)
    const idsOffset = start + rows * 16
    const facesOffset = idsOffset + rows * ownerWords * 4
    const groupsOffset = facesOffset + rows * 4
    return {
      ...section,
      densities: new Float64Array(bytes, start, rows),
      /** +∞ for a subject that does not expire. */
      expiriesMs: new Float64Array(bytes, start + rows * 8, rows),
      /** The words of the ids of each row, see `RowOwnerWords`. */
      ids: new Uint32Array(bytes, idsOffset, rows * ownerWords),
      /** The number of faces of each row. */
      faces: new Uint32Array(bytes, facesOffset, rows),
      groups: new Uint32Array(bytes, groupsOffset, rows),
      /** All vectors, one after another. */
      vectors: new Float32Array(bytes, groupsOffset + rows * 4, rows * dimensions),
    }
  })
}

function packedBytes({ sections }: PackedHeader, headerLength: number): number {
  const columns = sections.reduce((sum, section) => sum + sectionBytes(section), 0)
  return columnsOffset(headerLength) + columns
}

function columnsOffset(headerLength: number): number {
  return roundUp(lengthBytes + headerLength)
}

function sectionBytes({ rows, dimensions }: SectionHeader): number {
  return roundUp(rows * (8 + 8 + ownerWords * 4 + 4 + 4 + dimensions * 4))
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment
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
