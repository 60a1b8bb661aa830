import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { emptyGroupSetId } from './group-sets.ts'
import { quantiseRow } from './quantise.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** A block of rows: the part that the scan reads is in shared memory, the rest is not. */
export type RowBlock = {
  /** Number of the first row of the block in the table. */
  readonly first: number
  readonly capacity: number
  /** Address in the shared memory. */
  readonly offset: number
  /** Views of the rows in shared memory as bytes, float32 and 32-bit integers. */
  readonly codes: Int8Array
  readonly metadata: Float32Array
  readonly groupSetIds: Uint32Array
  /** `capacity` × dimensions. */
  readonly vectors: Float32Array
  readonly densities: Float64Array
  readonly owners: (RowOwner | undefined)[]
}

/** A row, by its index in its block. */
export type RowPosition = { readonly block: RowBlock; readonly index: number }

/** The face of a row. */
export type RowOwner = {
  readonly faceId: string
  readonly subjectId: string
  /** From this time on, the subject is not found. */
  readonly expiresAtMs?: number | undefined
}

/** The kernel reads sixteen codes at a time. */
const codesPerStep = 16
/** Scale, bias, slack and group set id follow the codes, so that memory is read sequentially. */
const metadataBytes = 16

/** Rows of the first block. Each next block is as large as all before it, up to the maximum. */
const firstBlockRows = 64
/** 4.4 MB of shared memory at 256 dimensions: adding a block takes no noticeable time. */
const blockRowsMax = 16_384
/** Blocks before the first one of `blockRowsMax` rows: 64, 64, 128, … 8192. */
const growingBlockCount = 1 + Math.log2(blockRowsMax / firstBlockRows)

export function codeBytes(dimensions: number): number {
  return Math.ceil(dimensions / codesPerStep) * codesPerStep
}

export function rowBytes(dimensions: number): number {
  return codeBytes(dimensions) + metadataBytes
}

/** Returns the number of rows of a block, by its index in the table. */
export function blockCapacity(index: number): number {
  return index === 0 ? firstBlockRows : Math.min(firstBlockRows * 2 ** (index - 1), blockRowsMax)
}

/** Returns the index of the block that contains a row, by its number in the table. */
export function blockIndex(row: number): number {
  if (row < firstBlockRows) return 0
  if (row < blockRowsMax) return 1 + Math.floor(Math.log2(row / firstBlockRows))
  return growingBlockCount + Math.floor(row / blockRowsMax) - 1
}

export function allocateBlock(
  sharedMemory: SharedMemory,
  dimensions: number,
  { first, capacity }: { readonly first: number; readonly capacity: number },
): RowBlock {
  const bytes = capacity * rowBytes(dimensions)
  const offset = sharedMemory.allocate(bytes)
  // These views stay valid when the memory grows.
  const { buffer } = sharedMemory.memory
  return {
    first,
    capacity,
    offset,
    codes: new Int8Array(buffer, offset, bytes),
    metadata: new Float32Array(buffer, offset, bytes / 4),
    groupSetIds: new Uint32Array(buffer, offset, bytes / 4),
    vectors: new Float32Array(capacity * dimensions),
    densities: new Float64Array(capacity),
    owners: Array.from({ length: capacity }),
  }
}

/** Zeroes a whole block and frees its shared memory. */
export function freeBlock(sharedMemory: SharedMemory, block: RowBlock): void {
  sharedMemory.free(block.offset, block.codes.length)
  block.vectors.fill(0)
  block.densities.fill(0)
  block.owners.fill(undefined)
}

/** Returns the memory of a block without the ids of its owners. */
export function blockBytes({ codes, vectors, densities }: RowBlock): number {
  return codes.byteLength + vectors.byteLength + densities.byteLength
}

export function writeRow(
  { block, index }: RowPosition,
  row: RowOwner & TemplateVector & { groupSetId: number },
): void {
  const { vector, density, groupSetId } = row
  assert.notEqual(groupSetId, emptyGroupSetId)
  const dimensions = vector.length
  block.vectors.set(vector, index * dimensions)
  block.densities[index] = density
  const { faceId, subjectId, expiresAtMs } = row
  block.owners[index] = { faceId, subjectId, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  const start = index * rowBytes(dimensions)
  const codes = block.codes.subarray(start, start + dimensions)
  const { scale, bias, slack } = quantiseRow(vector, density, codes)
  const metadataIndex = (start + codeBytes(dimensions)) / 4
  block.metadata.set([scale, bias, slack], metadataIndex)
  block.groupSetIds[metadataIndex + 3] = groupSetId
}

/** Zeroes a row and returns the group set id that it had. */
export function clearRow({ block, index }: RowPosition): number {
  const dimensions = block.vectors.length / block.capacity
  const start = index * rowBytes(dimensions)
  const groupSetId = block.groupSetIds[(start + codeBytes(dimensions)) / 4 + 3] ?? emptyGroupSetId
  block.codes.fill(0, start, start + rowBytes(dimensions))
  block.vectors.fill(0, index * dimensions, (index + 1) * dimensions)
  block.densities[index] = 0
  block.owners[index] = undefined
  return groupSetId
}

/** Returns the template in a row; its vector is a view. */
export function readRow({ block, index }: RowPosition): TemplateVector {
  const dimensions = block.vectors.length / block.capacity
  return {
    vector: block.vectors.subarray(index * dimensions, (index + 1) * dimensions),
    density: block.densities[index] ?? 0,
  }
}
