import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { leadBytes, type LeadAxes, codeBytes, rowBytes } from '../scan/row-layout.ts'
import { emptyGroupSetId } from './group-sets.ts'
import { createRowOwners, type RowOwners } from './row-owners.ts'
import type { TemplateVector } from '../../calibration/similarity.ts'

/** The rows of a table, stored in blocks, so that growth copies nothing. */
export type RowStore = ReturnType<typeof openRowStore>

export function openRowStore(sharedMemory: SharedMemory, dimensions: number) {
  const blocks: RowBlock[] = []
  const freeRows: number[] = []
  let rowsAllocated = 0
  let leadAxes: LeadAxes | undefined
  const rowsUsed = ({ first, capacity }: RowBlock) => Math.min(capacity, rowsAllocated - first)
  return {
    blocks,
    /** Returns the position of an allocated row. */
    positionOf: (row: number): RowPosition => {
      const block = blocks[blockIndex(row)]
      assert.ok(block)
      return { block, index: row - block.first }
    },
    /** Returns the number of a free row; adds a block if there is none. */
    allocate: (): number => {
      const reused = freeRows.pop()
      if (reused !== undefined) return reused
      const index = blockIndex(rowsAllocated)
      if (index === blocks.length) {
        const range = { first: rowsAllocated, capacity: blockCapacity(index) }
        const block = allocateBlock(sharedMemory, dimensions, range)
        if (leadAxes && sharedMemory.hasRoomForLeads(range.capacity * leadBytes))
          addLeads(sharedMemory, block, { axes: leadAxes, rowsUsed: 0 })
        blocks.push(block)
      }
      return rowsAllocated++
    },
    /** Writes the templates of successive allocated rows of a block, but not their owners. */
    write: (first: RowPosition, templates: RowTemplates): void =>
      writeRows(sharedMemory, first, templates),
    /** Frees a row that has been cleared. */
    release: (row: number): void => void freeRows.push(row),
    /** Returns how many rows of a block have ever been allocated; the others need no scan. */
    rowsUsed,
    /** Adds leads to all rows and to all later ones. */
    setLeadAxes: (axes: LeadAxes): void => {
      leadAxes = axes
      for (const block of blocks) addLeads(sharedMemory, block, { axes, rowsUsed: rowsUsed(block) })
    },
    /** Zeroes everything, one block per step, so that a large table does not block its thread. */
    *clear() {
      for (let block = blocks.pop(); block; block = blocks.pop()) {
        freeBlock(sharedMemory, block)
        yield block
      }
    },
  }
}

/** A block of rows: the part that the scan reads is in shared memory, the rest is not. */
type RowBlock = {
  /** Number of the first row of the block in the table. */
  readonly first: number
  readonly capacity: number
  /** Address in the shared memory. */
  readonly offset: number
  /** Views of the rows in shared memory as bytes and 32-bit integers. */
  readonly codes: Int8Array
  readonly groupSetIds: Uint32Array
  /** `capacity` × dimensions. */
  readonly vectors: Float32Array
  readonly densities: Float64Array
  readonly owners: RowOwners
  /** Omitted while the table has no leads. */
  leads?: BlockLeads
}

/** The leads of a block, in shared memory. */
type BlockLeads = {
  readonly axes: LeadAxes
  /** Address in the shared memory. */
  readonly offset: number
  readonly codes: Int8Array
}

/** A row, by its index in its block. */
export type RowPosition = { readonly block: RowBlock; readonly index: number }

/** Rows of the first block. Each next block is as large as all before it, up to the maximum. */
const firstBlockRows = 64
/** 4.4 MB of shared memory at 256 dimensions: adding a block takes no noticeable time. */
const blockRowsMax = 16_384
/** Blocks before the first one of `blockRowsMax` rows: 64, 64, 128, … 8192. */
const growingBlockCount = 1 + Math.log2(blockRowsMax / firstBlockRows)

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
    groupSetIds: new Uint32Array(buffer, offset, bytes / 4),
    vectors: new Float32Array(capacity * dimensions),
    densities: new Float64Array(capacity),
    owners: createRowOwners(capacity),
  }
}

/** Adds leads to a block, also for the rows that it has already, the first `rowsUsed`. */
export function addLeads(
  sharedMemory: SharedMemory,
  block: RowBlock,
  { axes, rowsUsed }: { readonly axes: LeadAxes; readonly rowsUsed: number },
): void {
  const bytes = block.capacity * leadBytes
  const offset = sharedMemory.allocate(bytes)
  block.leads = { axes, offset, codes: new Int8Array(sharedMemory.memory.buffer, offset, bytes) }
  quantiseBlock(sharedMemory, { block, index: 0 }, rowsUsed)
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

/** The templates of successive rows of a block: all vectors, one after another. */
export type RowTemplates = Pick<RowBlock, 'vectors' | 'densities' | 'groupSetIds'>

/** Writes the templates of rows from a position on, but not their owners. */
export function writeRows(
  sharedMemory: SharedMemory,
  position: RowPosition,
  { vectors, densities, groupSetIds }: RowTemplates,
): void {
  const { block, index } = position
  const dimensions = dimensionsOf(block)
  block.vectors.set(vectors, index * dimensions)
  block.densities.set(densities, index)
  for (let row = 0; row < groupSetIds.length; row++) {
    const groupSetId = groupSetIds[row] ?? emptyGroupSetId
    assert.notEqual(groupSetId, emptyGroupSetId)
    block.groupSetIds[groupSetIdWord(index + row, dimensions)] = groupSetId
  }
  quantiseBlock(sharedMemory, position, groupSetIds.length)
}

/** Writes the codes and leads of rows that have vectors, densities and group set ids. */
function quantiseBlock(
  { quantiseRows }: SharedMemory,
  { block, index }: RowPosition,
  rows: number,
): void {
  const { leads } = block
  const dimensions = dimensionsOf(block)
  quantiseRows({
    dimensions,
    vectors: block.vectors.subarray(index * dimensions, (index + rows) * dimensions),
    densities: block.densities.subarray(index, index + rows),
    address: block.offset + index * rowBytes(dimensions),
    leads: leads && { axes: leads.axes, address: leads.offset + index * leadBytes },
  })
}

function dimensionsOf({ vectors, capacity }: RowBlock): number {
  return vectors.length / capacity
}

/** Returns the index of the group set id of a row among the words of its block. */
function groupSetIdWord(index: number, dimensions: number): number {
  return (index * rowBytes(dimensions) + codeBytes(dimensions)) / 4 + 3
}

/** Zeroes a row and returns the group set id that it had. */
export function clearRow({ block, index }: RowPosition): number {
  const dimensions = dimensionsOf(block)
  const start = index * rowBytes(dimensions)
  const groupSetId = block.groupSetIds[groupSetIdWord(index, dimensions)] ?? emptyGroupSetId
  block.codes.fill(0, start, start + rowBytes(dimensions))
  block.leads?.codes.fill(0, index * leadBytes, (index + 1) * leadBytes)
  block.vectors.fill(0, index * dimensions, (index + 1) * dimensions)
  block.densities[index] = 0
  block.owners.clear(index)
  return groupSetId
}

/** Returns the template in a row; its vector is a view. */
export function readRow({ block, index }: RowPosition): TemplateVector {
  const dimensions = dimensionsOf(block)
  return {
    vector: block.vectors.subarray(index * dimensions, (index + 1) * dimensions),
    density: block.densities[index] ?? 0,
  }
}
