import assert from 'node:assert/strict'
import { loadSection } from '../load/load-section.ts'
import type { PackedSection } from '../load/packed-rows.ts'
import type { SharedMemory } from '../scan/shared-memory.ts'
import {
  blockBytes,
  clearRow,
  readRow,
  type RowPosition,
  type RowTemplates,
  openRowStore,
  type RowStore,
} from './row-store.ts'
import { chooseLeadAxes } from './choose-lead-axes.ts'
import { createFaceRows, type FaceIdWords } from './face-rows.ts'
import type { LeadAxes } from '../scan/row-layout.ts'
import type { RowOwner } from './row-owners.ts'
import { createGroupSets } from './group-sets.ts'
import type { TemplateVector } from '../../calibration/similarity.ts'

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
  const { blocks, positionOf, rowsUsed } = rows
  const rowByFace = createFaceRows((row) => faceIdWordsAt(positionOf(row)))
  const leads = createLeads(rows, leadsFrom)
  const remove = (faceId: string): void => {
    const row = rowByFace.get(faceId)
    if (row === undefined) return
    rowByFace.remove(faceId)
    groupSets.release(clearRow(positionOf(row)))
    rows.release(row)
  }
  const onAdded = (): void => leads.addAt(rowByFace.size())
  return {
    dimensions,
    leadAxes: leads.axes,
    put: (template) => {
      assert.equal(template.vector.length, dimensions)
      remove(template.faceId)
      const row = rows.allocate()
      const groupSetId = groupSets.acquire(template.groups)
      const position = positionOf(row)
      rows.write(position, rowOf(template, groupSetId))
      position.block.owners.write(position.index, template)
      rowByFace.add(template.faceId, row)
      onAdded()
    },
    load: (section, sets) => {
      assert.equal(section.dimensions, dimensions)
      loadSection({ section, sets }, { rows, rowByFace, groupSets, remove, onAdded })
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
      return rows.clear()
    },
  }
}

function rowOf({ vector, density }: TemplateVector, groupSetId: number): RowTemplates {
  const densities = Float64Array.of(density)
  return { vectors: vector, densities, groupSetIds: Uint32Array.of(groupSetId) }
}

function faceIdWordsAt({ block, index }: RowPosition): FaceIdWords {
  return block.owners.faceIdWords(index)
}

function readPosition(position: RowPosition): (RowOwner & TemplateVector) | undefined {
  const owner = position.block.owners.read(position.index)
  return owner && { ...owner, ...readRow(position) }
}

/** Adds leads to a table when it first has as many rows as given. */
function createLeads(rows: RowStore, leadsFrom: number) {
  let leadAxes: LeadAxes | undefined
  let hasTried = false
  return {
    axes: () => leadAxes,
    addAt: (size: number): void => {
      if (hasTried || size < leadsFrom) return
      hasTried = true
      leadAxes = addLeads(rows, leadsFrom)
    },
  }
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
