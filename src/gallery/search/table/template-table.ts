import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { blockBytes, clearRow, readRow, writeRow } from './row-block.ts'
import type { RowOwner } from './row-block.ts'
import { createGroupSets } from './group-sets.ts'
import { openRowStore } from './row-store.ts'
import type { RowStore } from './row-store.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** The templates of one model in one gallery. Rows of removed templates are reused. */
export type TemplateTable = Pick<RowStore, 'blocks' | 'rowsUsed' | 'clear'> & {
  readonly dimensions: number
  /** Adds the template of a face or replaces it. */
  readonly put: (
    template: RowOwner & TemplateVector & { readonly groups: readonly string[] },
  ) => void
  /** Zeroes the row of a face immediately, if there is one. */
  readonly remove: (faceId: string) => void
  readonly size: () => number
  /** See `GroupSets.allowed`. */
  readonly allowed: (groups?: readonly string[]) => Uint8Array
  /** Returns the content of a row, or undefined if it is empty. */
  readonly read: (row: number) => (RowOwner & TemplateVector) | undefined
  /** Returns the memory of the rows, inside and outside the shared memory. */
  readonly bytes: () => number
}

export function openTemplateTable(sharedMemory: SharedMemory, dimensions: number): TemplateTable {
  const groupSets = createGroupSets()
  const rows = openRowStore(sharedMemory, dimensions)
  const { blocks, positionOf, rowsUsed, clear } = rows
  const rowByFace = new Map<string, number>()
  const remove = (faceId: string): void => {
    const row = rowByFace.get(faceId)
    if (row === undefined) return
    groupSets.release(clearRow(positionOf(row)))
    rowByFace.delete(faceId)
    rows.release(row)
  }
  return {
    dimensions,
    put: (template) => {
      assert.equal(template.vector.length, dimensions)
      remove(template.faceId)
      const row = rows.allocate()
      const groupSetId = groupSets.acquire(template.groups)
      writeRow(positionOf(row), { ...template, groupSetId })
      rowByFace.set(template.faceId, row)
    },
    remove,
    size: () => rowByFace.size,
    allowed: groupSets.allowed,
    read: (row) => {
      const position = positionOf(row)
      const owner = position.block.owners[position.index]
      return owner && { ...owner, ...readRow(position) }
    },
    bytes: () => blocks.reduce((sum, block) => sum + blockBytes(block), 0),
    blocks,
    rowsUsed,
    clear,
  }
}
