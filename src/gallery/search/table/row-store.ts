import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { leadBytes, type LeadAxes } from '../scan/row-layout.ts'
import { addLeads, allocateBlock, blockCapacity, blockIndex, freeBlock } from './row-block.ts'
import { writeRows, type RowBlock, type RowPosition, type RowTemplates } from './row-block.ts'

/** The rows of a table, stored in blocks, so that growth copies nothing. */
export type RowStore = {
  readonly blocks: readonly RowBlock[]
  /** Returns the position of an allocated row. */
  readonly positionOf: (row: number) => RowPosition
  /** Returns the number of a free row; adds a block if there is none. */
  readonly allocate: () => number
  /** Writes the templates of successive allocated rows of a block, but not their owners. */
  readonly write: (first: RowPosition, templates: RowTemplates) => void
  /** Frees a row that has been cleared. */
  readonly release: (row: number) => void
  /** Returns how many rows of a block have ever been allocated; the others need no scan. */
  readonly rowsUsed: (block: RowBlock) => number
  /** Adds leads to all rows and to all later ones. */
  readonly setLeadAxes: (axes: LeadAxes) => void
  /** Zeroes everything, one block per step, so that a large table does not block its thread. */
  readonly clear: () => Iterable<RowBlock>
}

export function openRowStore(sharedMemory: SharedMemory, dimensions: number): RowStore {
  const blocks: RowBlock[] = []
  const freeRows: number[] = []
  let rowsAllocated = 0
  let leadAxes: LeadAxes | undefined
  const rowsUsed = ({ first, capacity }: RowBlock): number =>
    Math.min(capacity, rowsAllocated - first)
  return {
    blocks,
    positionOf: (row) => {
      const block = blocks[blockIndex(row)]
      assert.ok(block)
      return { block, index: row - block.first }
    },
    allocate: () => {
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
    write: (first, templates) => writeRows(sharedMemory, first, templates),
    release: (row) => void freeRows.push(row),
    rowsUsed,
    setLeadAxes: (axes) => {
      leadAxes = axes
      for (const block of blocks) addLeads(sharedMemory, block, { axes, rowsUsed: rowsUsed(block) })
    },
    *clear() {
      for (let block = blocks.pop(); block; block = blocks.pop()) {
        freeBlock(sharedMemory, block)
        yield block
      }
    },
  }
}
