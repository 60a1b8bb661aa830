import { addBatch, goOnBehind } from './fill.ts'
import { findTableMarks, type TableMark } from './mark.ts'
import { placeFromText } from './rows.ts'
import type { Source } from './source.ts'
import { movingTables, type MovingTable } from './tables.ts'
import type { Target } from './target.ts'

/** How far one table has come. */
export type Progress = {
  readonly table: string
  readonly rows: number
  readonly total: number
  /** Rows that this process has added to any table. */
  readonly addedRows: number
}

/**
 * Copies what is not there yet, table by table and batch by batch; each batch and the note of it are
 * one transaction, so that it can be cut off anywhere and be done again from there.
 *
 * @returns how many rows were added.
 */
export async function copyAll(
  source: Source,
  target: Target,
  onProgress: (progress: Progress) => void,
): Promise<number> {
  const marks = await target.read(findTableMarks)
  await makeMonths(source, target)
  let addedRows = 0
  for (const table of movingTables) {
    const { name } = table
    const total = source.count(table)
    const mark = marks.get(name)
    let rows = mark?.rows ?? 0
    for await (const count of copyTable(source, target, table, mark)) {
      rows += count
      addedRows += count
      onProgress({ table: name, rows, total, addedRows })
    }
    await target.write((on) => goOnBehind(on, table, source.lastNumber(table)))
  }
  return addedRows
}

/** The log's rows lie in the month that they are of, however old it is. */
async function makeMonths(source: Source, target: Target): Promise<void> {
  let atMs = source.nextCallMs(Number.MIN_SAFE_INTEGER)
  while (atMs !== undefined) {
    await target.makeMonth(atMs)
    const at = new Date(atMs)
    atMs = source.nextCallMs(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  }
}

/** @yields the number of rows of each batch that was added. */
async function* copyTable(
  source: Source,
  target: Target,
  table: MovingTable,
  mark: TableMark | undefined,
): AsyncGenerator<number> {
  let place = mark?.place ?? null
  for (let isLast = mark?.isDone === 1; !isLast;) {
    const before = place
    const rows = source.batch(table, before === null ? undefined : placeFromText(before))
    isLast = rows.length < table.batchRows
    const batch = { rows, isLast, before }
    place = await target.write((on) => addBatch(on, table, batch))
    yield rows.length
  }
}
