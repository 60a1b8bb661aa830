import assert from 'node:assert/strict'
import { rowIdWords, type PackedSection } from '../load/packed-rows.ts'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { blockBytes, clearRow, readRow, writeRow, type RowPosition } from './row-block.ts'
import { chooseLeadAxes } from './choose-lead-axes.ts'
import { readIdWords } from './face-id.ts'
import { createFaceRows } from './face-rows.ts'
import type { LeadAxes } from './lead.ts'
import type { RowOwner } from './row-owners.ts'
import { createGroupSets, emptyGroupSetId, type GroupSets } from './group-sets.ts'
import { openRowStore } from './row-store.ts'
import type { RowStore } from './row-store.ts'
import type { TemplateVector } from '../../calibration/score.ts'

/** The templates of one model in one gallery. Rows of removed templates are reused. */
export type TemplateTable = Pick<RowStore, 'blocks' | 'rowsUsed' | 'clear'> & {
  readonly dimensions: number
  /** The axes of the leads; undefined while the table is small, and if leads would exclude few rows. */
  readonly leadAxes: () => LeadAxes | undefined
  /** Adds the template of a face or replaces it. */
  readonly put: (
    template: RowOwner & TemplateVector & { readonly groups: readonly string[] },
  ) => void
  /**
   * Adds the templates of many faces, without an object or a text per row.
   *
   * @param groupSets the sets of groups to which the rows refer.
   */
  readonly load: (rows: PackedSection, groupSets: readonly (readonly string[])[]) => void
  /** Zeroes the row of a face immediately, if there is one. */
  readonly remove: (faceId: string) => void
  readonly size: () => number
  /** See `GroupSets.allowed`. */
  readonly allowed: (groups?: readonly string[]) => Uint8Array
  /** Returns the content of a row, or undefined if it is empty. */
  readonly read: (row: number) => (RowOwner & TemplateVector) | undefined
  /** Returns the memory of the rows and their ids, inside and outside the shared memory. */
  readonly bytes: () => number
}

/** A table gets leads when it has this many rows. The scan of a smaller one takes 0.3 ms. */
export const leadRowsMin = 16_384
/** The axes are chosen from about this many rows. */
const leadSampleRows = 4_096

/** @param leadsFrom number of rows from which on the table has leads. */
export function openTemplateTable(
  sharedMemory: SharedMemory,
  dimensions: number,
  leadsFrom: number = leadRowsMin,
): TemplateTable {
  const groupSets = createGroupSets()
  const rows = openRowStore(sharedMemory, dimensions)
  const { blocks, positionOf, rowsUsed, clear } = rows
  const rowByFace = createFaceRows((row) => {
    const { block, index } = positionOf(row)
    return block.owners.faceIdWords(index)
  })
  let leadAxes: LeadAxes | undefined
  let hasTriedLeads = false
  const remove = (faceId: string): void => {
    const row = rowByFace.get(faceId)
    if (row === undefined) return
    rowByFace.remove(faceId)
    groupSets.release(clearRow(positionOf(row)))
    rows.release(row)
  }
  const tryLeads = (): void => {
    if (hasTriedLeads || rowByFace.size() < leadsFrom) return
    hasTriedLeads = true
    leadAxes = addLeads(rows, leadsFrom)
  }
  return {
    dimensions,
    leadAxes: () => leadAxes,
    put: (template) => {
      assert.equal(template.vector.length, dimensions)
      remove(template.faceId)
      const row = rows.allocate()
      const groupSetId = groupSets.acquire(template.groups)
      const position = positionOf(row)
      writeRow(position, { ...template, groupSetId })
      position.block.owners.write(position.index, template)
      rowByFace.add(template.faceId, row)
      tryLeads()
    },
    load: (section, sets) => {
      assert.equal(section.dimensions, dimensions)
      const groupSetIds = acquireAll(groupSets, section.groups, sets)
      const texts = new Map(section.texts.map((ids) => [ids.row, ids]))
      const { ids, densities, vectors } = section
      for (let index = 0; index < section.rows; index++) {
        const words = { words: ids, offset: index * rowIdWords }
        const expiresAtMs = section.expiriesMs[index] ?? Number.POSITIVE_INFINITY
        const text = texts.get(index)
        const existing = text ? rowByFace.get(text.faceId) : rowByFace.getByWords(words)
        if (existing !== undefined) remove(text?.faceId ?? readIdWords(ids, words.offset))
        const row = rows.allocate()
        const { block, index: blockIndex } = positionOf(row)
        const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions)
        const groupSetId = groupSetIds[section.groups[index] ?? 0] ?? emptyGroupSetId
        const template = { vector, density: densities[index] ?? 0, groupSetId }
        writeRow({ block, index: blockIndex }, template)
        if (text) block.owners.write(blockIndex, { ...text, expiresAtMs })
        else block.owners.writeWords(blockIndex, words, expiresAtMs)
        if (text) rowByFace.add(text.faceId, row)
        else rowByFace.addRow(row)
        tryLeads()
      }
    },
    remove,
    size: rowByFace.size,
    allowed: groupSets.allowed,
    read: (row) => readPosition(positionOf(row)),
    bytes: () => blocks.reduce((sum, block) => sum + blockBytes(block), rowByFace.bytes()),
    blocks,
    rowsUsed,
    clear: () => {
      rowByFace.clear()
      return clear()
    },
  }
}

/** Counts the rows of each set of groups. @returns the ids of the sets. */
function acquireAll(
  groupSets: GroupSets,
  rowSets: Uint32Array,
  sets: readonly (readonly string[])[],
): readonly number[] {
  const counts = new Uint32Array(sets.length)
  for (const set of rowSets) counts[set] = (counts[set] ?? 0) + 1
  return sets.map((groups, set) => {
    const rows = counts[set] ?? 0
    return rows === 0 ? emptyGroupSetId : groupSets.acquire(groups, rows)
  })
}

function readPosition(position: RowPosition): (RowOwner & TemplateVector) | undefined {
  const owner = position.block.owners.read(position.index)
  return owner && { ...owner, ...readRow(position) }
}

function addLeads(rows: RowStore, leadsFrom: number): LeadAxes | undefined {
  const axes = chooseLeadAxes([...sampleRows(rows, leadsFrom)])
  if (axes) rows.setLeadAxes(axes)
  return axes
}

/** Yields rows from all blocks, at equal distances. */
function* sampleRows({ blocks, rowsUsed }: RowStore, leadsFrom: number): Generator<TemplateVector> {
  const step = Math.max(1, Math.floor(leadsFrom / leadSampleRows))
  for (const block of blocks)
    for (let index = 0; index < rowsUsed(block); index += step) {
      const row = readPosition({ block, index })
      if (row) yield row
    }
}
