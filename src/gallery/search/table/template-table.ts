import assert from 'node:assert/strict'
import type { TemplateVector } from '../../calibration/similarity.ts'
import type { PackedSection } from '../load/packed-rows.ts'
import type { LeadAxes } from '../scan/row-layout.ts'
import type { SharedMemory } from '../scan/shared-memory.ts'
import { chooseLeadAxes } from './choose-lead-axes.ts'
import { type GroupSets, createGroupSets, emptyGroupSetId } from './group-sets.ts'
import { type RowOwner, ownerWords } from './row-owners.ts'
import {
  type RowPosition,
  type RowStore,
  type RowTemplates,
  blockBytes,
  clearRow,
  openRowStore,
  readRow,
} from './row-store.ts'
import { type IdWords, type SubjectRows, createSubjectRows, readIdWords } from './subject-rows.ts'

/** The subjects of one gallery by one model, one row each. Rows of removed subjects are reused. */
export type TemplateTable = Pick<RowStore, 'blocks' | 'rowsUsed' | 'clear'> &
  ReturnType<typeof openTemplateTable>

/** A table gets leads when it has this many rows. The scan of a smaller one takes 0.3 ms. */
export const leadRowsMin = 16_384
/** The axes are chosen from about this many rows. */
const leadSampleRows = 4_096

/** @param leadsFrom number of rows from which on the table has leads. */
export function openTemplateTable(
  sharedMemory: SharedMemory,
  dimensions: number,
  leadsFrom: number = leadRowsMin,
) {
  const groupSets = createGroupSets()
  const rows = openRowStore(sharedMemory, dimensions)
  const { blocks, positionOf, rowsUsed } = rows
  const rowBySubject = createSubjectRows((row) => subjectIdWordsAt(positionOf(row)))
  const leads = createLeads(rows, leadsFrom)
  const remove = (subjectId: string): void => {
    const row = rowBySubject.get(subjectId)
    if (row === undefined) return
    rowBySubject.remove(subjectId)
    groupSets.release(clearRow(positionOf(row)))
    rows.release(row)
  }
  const onAdded = (): void => leads.addAt(rowBySubject.size())
  return {
    dimensions,
    /** The axes of the leads; undefined while the table is small, and if leads would exclude few rows. */
    leadAxes: leads.axes,
    /** Adds the template of a subject or replaces it. */
    put: (template: RowOwner & TemplateVector & { readonly groups: readonly string[] }): void => {
      assert.equal(template.vector.length, dimensions)
      remove(template.subjectId)
      const row = rows.allocate()
      const position = positionOf(row)
      rows.write(position, rowOf(template, groupSets.acquire(template.groups)))
      position.block.owners.write(position.index, template)
      rowBySubject.add(template.subjectId, row)
      onAdded()
    },
    /**
     * Adds the templates of many subjects, without an object or a text per row.
     *
     * @param groupSets the sets of groups to which the rows refer.
     */
    load: (section: PackedSection, sets: readonly (readonly string[])[]): void => {
      assert.equal(section.dimensions, dimensions)
      loadSection({ section, sets }, { rows, rowBySubject, groupSets, remove, onAdded })
    },
    /** Zeroes the row of a subject immediately, if there is one. */
    remove,
    /** Returns the number of subjects. */
    size: rowBySubject.size,
    /** Returns the number of their faces. */
    faces: (): number => blocks.reduce((sum, { owners }) => sum + owners.faces(), 0),
    /** See `GroupSets.allowed`. */
    allowed: groupSets.allowed,
    /** Returns the content of a row, or undefined if it is empty. */
    read: (row: number): (RowOwner & TemplateVector) | undefined => readPosition(positionOf(row)),
    /** Returns the memory of the rows and their ids, inside and outside the shared memory. */
    bytes: () => blocks.reduce((sum, block) => sum + blockBytes(block), rowBySubject.bytes()),
    blocks,
    rowsUsed,
    clear: () => {
      rowBySubject.clear()
      return rows.clear()
    },
  }
}

function rowOf({ vector, density }: TemplateVector, groupSetId: number): RowTemplates {
  const densities = Float64Array.of(density)
  return { vectors: vector, densities, groupSetIds: Uint32Array.of(groupSetId) }
}

function subjectIdWordsAt({ block, index }: RowPosition): IdWords {
  return block.owners.subjectIdWords(index)
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

/** Rows of a model, and the sets of groups to which they refer. */
type SectionToLoad = {
  readonly section: PackedSection
  readonly sets: readonly (readonly string[])[]
}

/** The parts of a table. */
type LoadedTable = {
  readonly rows: RowStore
  readonly rowBySubject: SubjectRows
  readonly groupSets: GroupSets
  readonly remove: (subjectId: string) => void
  /** Called after rows were added. */
  readonly onAdded: () => void
}

/** Adds the templates of many subjects to a table, without an object or a text per row. */
function loadSection({ section, sets }: SectionToLoad, table: LoadedTable): void {
  const { rows, rowBySubject, remove } = table
  const { ids, expiriesMs, faces } = section
  const texts = new Map(section.texts.map((text) => [text.row, text]))
  const runs = createRuns(section, acquireAll(table.groupSets, section.groups, sets), table)
  for (let row = 0; row < section.rows; row++) {
    const words = { words: ids, offset: row * ownerWords }
    const text = texts.get(row)
    const existing = text ? rowBySubject.get(text.subjectId) : rowBySubject.getByWords(words)
    if (existing !== undefined) {
      runs.write()
      remove(text?.subjectId ?? readIdWords(ids, words.offset))
    }
    const number = rows.allocate()
    const position = rows.positionOf(number)
    const { block, index } = position
    const owner = { faces: faces[row] ?? 0, expiresAtMs: expiriesMs[row] ?? Infinity }
    if (text) {
      block.owners.write(index, { ...text, ...owner })
      rowBySubject.add(text.subjectId, number)
    } else {
      block.owners.writeWords(index, { ids: words, ...owner })
      rowBySubject.addRow(number)
    }
    runs.add(row, position)
  }
  runs.write()
}

/**
 * Collects successive rows of a section that are successive in a block too, and writes their templates
 * together: most rows of a section.
 */
function createRuns(
  { vectors, densities, dimensions }: PackedSection,
  groupSetIds: Uint32Array,
  { rows, onAdded }: Pick<LoadedTable, 'rows' | 'onAdded'>,
) {
  let first: RowPosition | undefined
  let from = 0
  let to = 0
  const write = (): void => {
    if (!first) return
    rows.write(first, {
      vectors: vectors.subarray(from * dimensions, to * dimensions),
      densities: densities.subarray(from, to),
      groupSetIds: groupSetIds.subarray(from, to),
    })
    first = undefined
    onAdded()
  }
  return {
    write,
    add: (row: number, position: RowPosition): void => {
      if (first?.block !== position.block || first.index + to - from !== position.index) {
        write()
        first = position
        from = row
      }
      to = row + 1
    },
  }
}

/** Counts the rows of each set of groups. @returns the ids of the sets of the rows. */
function acquireAll(
  groupSets: GroupSets,
  rowSets: Uint32Array,
  sets: readonly (readonly string[])[],
): Uint32Array {
  const counts = new Uint32Array(sets.length)
  for (const set of rowSets) counts[set] = (counts[set] ?? 0) + 1
  const ids = sets.map((groups, set) => {
    const rows = counts[set] ?? 0
    return rows === 0 ? emptyGroupSetId : groupSets.acquire(groups, rows)
  })
  return rowSets.map((set) => ids[set] ?? emptyGroupSetId)
}
