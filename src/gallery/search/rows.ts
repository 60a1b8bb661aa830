import assert from 'node:assert/strict'
import type { Arena } from './arena.ts'
import { allocateBlock, blockCapacity, blockIndex, freeBlock } from './block.ts'
import type { Block, Place } from './block.ts'

/** The rows of a table, in blocks: growing copies nothing. */
export type Rows = {
  readonly blocks: readonly Block[]
  /** Where a row stands; `row` is one that was claimed. */
  readonly place: (row: number) => Place
  /** A row that nobody has, made if there is none. */
  readonly claim: () => number
  /** Gives back a row that has been cleared. */
  readonly release: (row: number) => void
  /** Rows of a block that have ever been claimed; the rest need not be scanned. */
  readonly rowsUsed: (block: Block) => number
  /** Zeroes everything, a block at a step, so that a large table does not hold up its thread. */
  readonly clear: () => Iterable<Block>
}

export function openRows(arena: Arena, dimensions: number): Rows {
  const blocks: Block[] = []
  const free: number[] = []
  let rowsEver = 0
  return {
    blocks,
    place: (row) => {
      const block = blocks[blockIndex(row)]
      assert.ok(block)
      return { block, at: row - block.first }
    },
    claim: () => {
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
