import assert from 'node:assert/strict'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { blockBytes, clearRow, readRow, writeRow } from './row-block.ts'
import type { RowOwner } from './row-block.ts'
import { createGroupSets } from './group-sets.ts'
import { openRowStore } from './row-store.ts'
import type { RowStore } from './row-store.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** The templates of one model in one gallery. Rows are given again after a removal. */
export type TemplateTable = Pick<RowStore, 'blocks' | 'rowsUsed' | 'clear'> & {
  readonly dimensions: number
  /** Puts a template in, or in the place of the one with its id. */
  readonly put: (
    template: RowOwner & TemplateVector & { readonly groups: readonly string[] },
  ) => void
  /** Zeroes the template's row at once, if there is one. */
  readonly remove: (templateId: string) => void
  readonly size: () => number
  /** One byte a label, as `Labels.allowed`. */
  readonly allowed: (groups?: readonly string[]) => Uint8Array
  /** What stands in a row, if anything does. */
  readonly read: (row: number) => (RowOwner & TemplateVector) | undefined
  /** Memory that its rows take, in the arena and beside it. */
  readonly bytes: () => number
}

export function openTemplateTable(arena: SharedMemory, dimensions: number): TemplateTable {
  const labels = createGroupSets()
  const {
    blocks,
    positionOf: place,
    allocate: claim,
    release,
    rowsUsed,
    clear,
  } = openRowStore(arena, dimensions)
  const rowOf = new Map<string, number>()
  const remove = (templateId: string): void => {
    const row = rowOf.get(templateId)
    if (row === undefined) return
    labels.release(clearRow(place(row)))
    rowOf.delete(templateId)
    release(row)
  }
  return {
    dimensions,
    put: (template) => {
      assert.equal(template.vector.length, dimensions)
      remove(template.templateId)
      const row = claim()
      writeRow(place(row), { ...template, label: labels.acquire(template.groups) })
      rowOf.set(template.templateId, row)
    },
    remove,
    size: () => rowOf.size,
    allowed: labels.allowed,
    read: (row) => {
      const { block, index: at } = place(row)
      const owner = block.owners[at]
      return owner && { ...owner, ...readRow({ block, index: at }) }
    },
    bytes: () => blocks.reduce((sum, block) => sum + blockBytes(block), 0),
    blocks,
    rowsUsed,
    clear,
  }
}
