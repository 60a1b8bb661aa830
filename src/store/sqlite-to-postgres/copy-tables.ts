import { insertBatch, advanceSequence } from './fill-target.ts'
import { findTableProgress, type TableProgress } from './progress.ts'
import { keyFromText } from './table-rows.ts'
import type { MigrationSource } from './source.ts'
import { migratedTables, type MigratedTable } from './migrated-tables.ts'
import type { MigrationTarget } from './target.ts'

/** How far one table has come. */
export type CopyProgress = {
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
export async function copyTables(
  source: MigrationSource,
  target: MigrationTarget,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  const marks = await target.read(findTableProgress)
  await createLogPartitions(source, target)
  let addedRows = 0
  for (const table of migratedTables) {
    const { name } = table
    const total = source.countRows(table)
    const mark = marks.get(name)
    let rows = mark?.rows ?? 0
    for await (const count of copyTable(source, target, table, mark)) {
      rows += count
      addedRows += count
      onProgress({ table: name, rows, total, addedRows })
    }
    await target.write((on) => advanceSequence(on, table, source.lastIdentity(table)))
  }
  return addedRows
}

/** The log's rows lie in the month that they are of, however old it is. */
async function createLogPartitions(
  source: MigrationSource,
  target: MigrationTarget,
): Promise<void> {
  let atMs = source.findNextCallMs(Number.MIN_SAFE_INTEGER)
  while (atMs !== undefined) {
    await target.createLogPartition(atMs)
    const at = new Date(atMs)
    atMs = source.findNextCallMs(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  }
}

/** @yields the number of rows of each batch that was added. */
async function* copyTable(
  source: MigrationSource,
  target: MigrationTarget,
  table: MigratedTable,
  mark: TableProgress | undefined,
): AsyncGenerator<number> {
  let place = mark?.place ?? null
  for (let isLast = mark?.isDone === 1; !isLast;) {
    const before = place
    const rows = source.readBatch(table, before === null ? undefined : keyFromText(before))
    isLast = rows.length < table.batchRows
    const batch = { rows, isLast, before }
    place = await target.write((on) => insertBatch(on, table, batch))
    yield rows.length
  }
}
