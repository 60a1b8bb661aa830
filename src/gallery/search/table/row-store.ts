import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { allocateBlock, blockCapacity, blockIndex, freeBlock } from './row-block.ts'
import type { RowBlock, RowPosition } from './row-block.ts'

/** The rows of a table, in blocks: growing copies nothing. */
export type RowStore = {
  readonly blocks: readonly RowBlock[]
  /** Where a row stands; `row` is one that was claimed. */
  readonly positionOf: (row: number) => RowPosition
  /** A row that nobody has, made if there is none. */
  readonly allocate: () => number
  /** Gives back a row that has been cleared. */
  readonly release: (row: number) => void
  /** Rows of a block that have ever been claimed; the rest need not be scanned. */
  readonly rowsUsed: (block: RowBlock) => number
  /** Zeroes everything, a block at a step, so that a large table does not hold up its thread. */
  readonly clear: () => Iterable<RowBlock>
}

export function openRowStore(arena: SharedMemory, dimensions: number): RowStore {
  const blocks: RowBlock[] = []
  const free: number[] = []
  let rowsEver = 0
  return {
    blocks,
    positionOf: (row) => {
      const block = blocks[blockIndex(row)]
      assert.ok(block)
      return { block, index: row - block.first }
    },
    allocate: () => {
      const again = free.pop()
      if (again !== undefined) return again
      const index = blockIndex(rowsEver)
      if (index === blocks.length) {
        const place = { first: rowsEver, capacity: blockCapacity(index) }
        blocks.push(allocateBlock(arena, dimensions, place))
      }
      return rowsEver++
    },
    release: (row) => void free.push(row),
    rowsUsed: ({ first, capacity }) => Math.min(capacity, rowsEver - first),
    *clear() {
      for (let block = blocks.pop(); block; block = blocks.pop()) {
        freeBlock(arena, block)
        yield block
      }
    },
  }
}
