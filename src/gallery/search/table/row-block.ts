import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { emptyGroupSetId } from './group-sets.ts'
import { leadAxisCount, leadBytes, leadMetadataWord, quantiseLead, type LeadAxes } from './lead.ts'
import { quantiseRow } from './quantise.ts'
import { createRowOwners, type RowOwners } from './row-owners.ts'
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
  readonly owners: RowOwners
  /** Omitted while the table has no leads. */
  leads?: BlockLeads
}

/** The leads of a block, in shared memory. */
export type BlockLeads = {
  readonly axes: LeadAxes
  /** Address in the shared memory. */
  readonly offset: number
  /** Views of the leads as bytes, float32 and 32-bit integers. */
  readonly codes: Int8Array
  readonly metadata: Float32Array
  readonly groupSetIds: Uint32Array
}

/** A row, by its index in its block. */
export type RowPosition = { readonly block: RowBlock; readonly index: number }

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
    owners: createRowOwners(capacity),
  }
}

/** Adds leads to a block, also for the rows that it has already. */
export function addLeads(sharedMemory: SharedMemory, block: RowBlock, axes: LeadAxes): void {
  const bytes = block.capacity * leadBytes
  const offset = sharedMemory.allocate(bytes)
  const { buffer } = sharedMemory.memory
  block.leads = {
    axes,
    offset,
    codes: new Int8Array(buffer, offset, bytes),
    metadata: new Float32Array(buffer, offset, bytes / 4),
    groupSetIds: new Uint32Array(buffer, offset, bytes / 4),
  }
  const dimensions = block.vectors.length / block.capacity
  for (let index = 0; index < block.capacity; index++) {
    const word = metadataWord(index, dimensions)
    const groupSetId = block.groupSetIds[word + 3] ?? emptyGroupSetId
    if (groupSetId === emptyGroupSetId) continue
    const { vector } = readRow({ block, index })
    const squared = vector.reduce((sum, value) => sum + value * value, 0)
    const bias = block.metadata[word + 1] ?? 0
    writeLead(block.leads, index, { vector, squared, bias, groupSetId })
  }
}

/** Zeroes a whole block and frees its shared memory. */
export function freeBlock(sharedMemory: SharedMemory, block: RowBlock): void {
  sharedMemory.free(block.offset, block.codes.length)
  if (block.leads) sharedMemory.free(block.leads.offset, block.leads.codes.length)
  delete block.leads
  block.vectors.fill(0)
  block.densities.fill(0)
  block.owners.clearAll()
}

export function blockBytes({ codes, leads, vectors, densities, owners }: RowBlock): number {
  const leadsBytes = leads?.codes.byteLength ?? 0
  return codes.byteLength + leadsBytes + vectors.byteLength + densities.byteLength + owners.bytes
}

/** Writes the template of a row, but not its owner. */
export function writeRow(
  { block, index }: RowPosition,
  { vector, density, groupSetId }: TemplateVector & { readonly groupSetId: number },
): void {
  assert.notEqual(groupSetId, emptyGroupSetId)
  const dimensions = vector.length
  block.vectors.set(vector, index * dimensions)
  block.densities[index] = density
  const start = index * rowBytes(dimensions)
  const codes = block.codes.subarray(start, start + dimensions)
  const { scale, bias, slack, squared } = quantiseRow(vector, density, codes)
  const word = metadataWord(index, dimensions)
  block.metadata[word] = scale
  block.metadata[word + 1] = bias
  block.metadata[word + 2] = slack
  block.groupSetIds[word + 3] = groupSetId
  if (block.leads) writeLead(block.leads, index, { vector, squared, bias, groupSetId })
}

/** Returns the index of the metadata of a row among the words of its block. */
function metadataWord(index: number, dimensions: number): number {
  return (index * rowBytes(dimensions) + codeBytes(dimensions)) / 4
}

type LeadRow = {
  readonly vector: Float32Array
  readonly squared: number
  readonly bias: number
  readonly groupSetId: number
}

function writeLead(leads: BlockLeads, index: number, row: LeadRow): void {
  const start = index * leadBytes
  const codes = leads.codes.subarray(start, start + leadAxisCount)
  const { scale, rest } = quantiseLead(row, leads.axes, codes)
  const word = start / 4 + leadMetadataWord
  leads.metadata[word] = scale
  leads.metadata[word + 1] = row.bias
  leads.metadata[word + 2] = rest
  leads.groupSetIds[word + 3] = row.groupSetId
}

/** Zeroes a row and returns the group set id that it had. */
export function clearRow({ block, index }: RowPosition): number {
  const dimensions = block.vectors.length / block.capacity
  const start = index * rowBytes(dimensions)
  const groupSetId = block.groupSetIds[metadataWord(index, dimensions) + 3] ?? emptyGroupSetId
  block.codes.fill(0, start, start + rowBytes(dimensions))
  block.leads?.codes.fill(0, index * leadBytes, (index + 1) * leadBytes)
  block.vectors.fill(0, index * dimensions, (index + 1) * dimensions)
  block.densities[index] = 0
  block.owners.clear(index)
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
