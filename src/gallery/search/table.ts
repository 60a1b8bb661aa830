import assert from 'node:assert/strict'
import type { Arena } from './arena.ts'
import { blockBytes, clearRow, readRow, writeRow } from './block.ts'
import type { Owner } from './block.ts'
import { openLabels } from './labels.ts'
import { openRows } from './rows.ts'
import type { Rows } from './rows.ts'
import type { Face } from '../score.ts'

/** The templates of one model in one gallery. Rows are given again after a removal. */
export type Table = Pick<Rows, 'blocks' | 'rowsUsed' | 'clear'> & {
  readonly dimensions: number
  /** Puts a template in, or in the place of the one with its id. */
  readonly put: (template: Owner & Face & { readonly groups: readonly string[] }) => void
  /** Zeroes the template's row at once, if there is one. */
  readonly remove: (templateId: string) => void
  readonly size: () => number
  /** One byte a label, as `Labels.allowed`. */
  readonly allowed: (groups?: readonly string[]) => Uint8Array
  /** What stands in a row, if anything does. */
  readonly read: (row: number) => (Owner & Face) | undefined
  /** Memory that its rows take, in the arena and beside it. */
  readonly bytes: () => number
}

export function openTable(arena: Arena, dimensions: number): Table {
  const labels = openLabels()
  const { blocks, place, claim, release, rowsUsed, clear } = openRows(arena, dimensions)
  const rowOf = new Map<string, number>()
  const remove = (templateId: string): void => {
    const row = rowOf.get(templateId)
    if (row === undefined) return
    labels.give(clearRow(place(row)))
    rowOf.delete(templateId)
    release(row)
  }
  return {
    dimensions,
    put: (template) => {
      assert.equal(template.vector.length, dimensions)
      remove(template.templateId)
      const row = claim()
      writeRow(place(row), { ...template, label: labels.take(template.groups) })
      rowOf.set(template.templateId, row)
    },
    remove,
    size: () => rowOf.size,
    allowed: labels.allowed,
    read: (row) => {
      const { block, at } = place(row)
      const owner = block.owners[at]
      return owner && { ...owner, ...readRow({ block, at }) }
    },
    bytes: () => blocks.reduce((sum, block) => sum + blockBytes(block), 0),
    blocks,
    rowsUsed,
    clear,
  }
}
