import { rowIdWords, type PackedSection } from './packed-rows.ts'
import { readIdWords } from '../table/face-id.ts'
import type { FaceRows } from '../table/face-rows.ts'
import { emptyGroupSetId, type GroupSets } from '../table/group-sets.ts'
import { writeRow } from '../table/row-block.ts'
import type { RowStore } from '../table/row-store.ts'

/** Rows of a model, and the sets of groups to which they refer. */
type SectionToLoad = {
  readonly section: PackedSection
  readonly sets: readonly (readonly string[])[]
}

/** The parts of a table. */
type LoadedTable = {
  readonly rows: RowStore
  readonly rowByFace: FaceRows
  readonly groupSets: GroupSets
  readonly remove: (faceId: string) => void
  /** Called after each row. */
  readonly onAdded: () => void
}

/** Adds the templates of many faces to a table, without an object or a text per row. */
export function loadSection({ section, sets }: SectionToLoad, table: LoadedTable): void {
  const { rows, rowByFace, remove, onAdded } = table
  const { ids, groups, expiriesMs, densities, vectors, dimensions } = section
  const groupSetIds = acquireAll(table.groupSets, groups, sets)
  const texts = new Map(section.texts.map((text) => [text.row, text]))
  for (let row = 0; row < section.rows; row++) {
    const words = { words: ids, offset: row * rowIdWords }
    const text = texts.get(row)
    const existing = text ? rowByFace.get(text.faceId) : rowByFace.getByWords(words)
    if (existing !== undefined) remove(text?.faceId ?? readIdWords(ids, words.offset))
    const number = rows.allocate()
    const position = rows.positionOf(number)
    const { block, index } = position
    const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions)
    const groupSetId = groupSetIds[groups[row] ?? 0] ?? emptyGroupSetId
    writeRow(position, { vector, density: densities[row] ?? 0, groupSetId })
    const expiresAtMs = expiriesMs[row] ?? Number.POSITIVE_INFINITY
    if (text) {
      block.owners.write(index, { ...text, expiresAtMs })
      rowByFace.add(text.faceId, number)
    } else {
      block.owners.writeWords(index, words, expiresAtMs)
      rowByFace.addRow(number)
    }
    onAdded()
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
