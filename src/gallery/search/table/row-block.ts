import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { emptyGroupSetId } from './group-sets.ts'
import { quantiseRow } from './quantise.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** A run of rows: what the scan reads in the arena, the rest beside it. */
export type RowBlock = {
  /** Number of its first row in the table. */
  readonly first: number
  readonly capacity: number
  readonly offset: number
  /** The rows in the arena, as bytes, float32 and 32-bit integers. */
  readonly codes: Int8Array
  readonly metadata: Float32Array
  readonly groupSetIds: Uint32Array
  /** `capacity` × dimensions. */
  readonly vectors: Float32Array
  readonly densities: Float64Array
  readonly owners: (RowOwner | undefined)[]
}

/** The `at`-th row of a block. */
export type RowPosition = { readonly block: RowBlock; readonly index: number }

/** Whose template a row is. */
export type RowOwner = { readonly templateId: string; readonly subjectId: string }

/** The kernel reads sixteen codes at a time. */
const codesPerStep = 16
/** scale, bias, slack and label of a row follow its codes, so that memory is read straight on. */
const metadataBytes = 16

/** The first block's rows; each of the next is as large as all before it, up to the largest. */
const firstBlockRows = 64
/** 4.4 MB of the arena at 256 dimensions: growing by one takes no noticeable time. */
const blockRowsMax = 16_384
/** Blocks before the first one of `rowsMost` rows: 64, 64, 128, … 8192. */
const growingBlockCount = 1 + Math.log2(blockRowsMax / firstBlockRows)

export function codeBytes(dimensions: number): number {
  return Math.ceil(dimensions / codesPerStep) * codesPerStep
}

export function rowBytes(dimensions: number): number {
  return codeBytes(dimensions) + metadataBytes
}

/** Rows of the `index`-th block of a table. */
export function blockCapacity(index: number): number {
  return index === 0 ? firstBlockRows : Math.min(firstBlockRows * 2 ** (index - 1), blockRowsMax)
}

/** Index of the block that holds the `row`-th row of a table. */
export function blockIndex(row: number): number {
  if (row < firstBlockRows) return 0
  if (row < blockRowsMax) return 1 + Math.floor(Math.log2(row / firstBlockRows))
  return growingBlockCount + Math.floor(row / blockRowsMax) - 1
}

export function allocateBlock(
  arena: SharedMemory,
  dimensions: number,
  place: { readonly first: number; readonly capacity: number },
): RowBlock {
  const bytes = place.capacity * rowBytes(dimensions)
  const offset = arena.allocate(bytes)
  // The arena's memory may grow; these views of the part that was there stay good.
  const { buffer } = arena.memory
  return {
    ...place,
    offset,
    codes: new Int8Array(buffer, offset, bytes),
    metadata: new Float32Array(buffer, offset, bytes / 4),
    groupSetIds: new Uint32Array(buffer, offset, bytes / 4),
    vectors: new Float32Array(place.capacity * dimensions),
    densities: new Float64Array(place.capacity),
    owners: Array.from({ length: place.capacity }),
  }
}

/** Zeroes a whole block and gives its part of the arena back. */
export function freeBlock(arena: SharedMemory, block: RowBlock): void {
  arena.free(block.offset, block.codes.length)
  block.vectors.fill(0)
  block.densities.fill(0)
  block.owners.fill(undefined)
}

/** Memory that a block takes, its names of owners aside. */
export function blockBytes({ codes, vectors, densities }: RowBlock): number {
  return codes.byteLength + vectors.byteLength + densities.byteLength
}

/** Puts a face into a row. */
export function writeRow(
  { block, index: at }: RowPosition,
  row: RowOwner & TemplateVector & { label: number },
): void {
  const { vector, density, label } = row
  assert.notEqual(label, emptyGroupSetId)
  const dimensions = vector.length
  block.vectors.set(vector, at * dimensions)
  block.densities[at] = density
  block.owners[at] = { templateId: row.templateId, subjectId: row.subjectId }
  const start = at * rowBytes(dimensions)
  const codes = block.codes.subarray(start, start + dimensions)
  const { scale, bias, slack } = quantiseRow(vector, density, codes)
  const factsAt = (start + codeBytes(dimensions)) / 4
  block.metadata.set([scale, bias, slack], factsAt)
  block.groupSetIds[factsAt + 3] = label
}

/** Zeroes a row wherever it stands, and returns the label it had. */
export function clearRow({ block, index: at }: RowPosition): number {
  const dimensions = block.vectors.length / block.capacity
  const start = at * rowBytes(dimensions)
  const label = block.groupSetIds[(start + codeBytes(dimensions)) / 4 + 3] ?? emptyGroupSetId
  block.codes.fill(0, start, start + rowBytes(dimensions))
  block.vectors.fill(0, at * dimensions, (at + 1) * dimensions)
  block.densities[at] = 0
  block.owners[at] = undefined
  return label
}

/** The face in a row; its vector is a view. */
export function readRow({ block, index: at }: RowPosition): TemplateVector {
  const dimensions = block.vectors.length / block.capacity
  return {
    vector: block.vectors.subarray(at * dimensions, (at + 1) * dimensions),
    density: block.densities[at] ?? 0,
  }
}
