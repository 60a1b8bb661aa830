import type { PackedSection } from './packed-rows.ts'
import { readIdWords, type SubjectRows } from '../table/subject-rows.ts'
import { ownerWords } from '../table/row-owners.ts'
import { emptyGroupSetId, type GroupSets } from '../table/group-sets.ts'
import type { RowPosition, RowStore } from '../table/row-store.ts'

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
export function loadSection({ section, sets }: SectionToLoad, table: LoadedTable): void {
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
