import type { ComparisonProgress } from './compare-tables.ts'
import { advanceSequence, insertBatch, keyFromText } from './fill-target.ts'
import { findTableProgress, type TableProgress } from './progress.ts'
import type { MigrationSource } from './source.ts'
import { migratedTables, type Table } from './tables.ts'
import type { MigrationTarget } from './target.ts'

/** The progress of copying one table. */
export type CopyProgress = ComparisonProgress & {
  /** Rows that this process has added to all tables. */
  readonly addedRows: number
}

/**
 * Copies the missing rows table by table, in batches. One transaction writes a batch and its
 * progress, so an interrupted copy continues after the last batch.
 *
 * @returns the number of added rows.
 */
export async function copyTables(
  source: MigrationSource,
  target: MigrationTarget,
  onProgress: (progress: CopyProgress) => void,
): Promise<number> {
  const progressByTable = await target.read(findTableProgress)
  await forEachLogMonth(source.findNextCallMs, target.createLogPartition)
  let addedRows = 0
  for (const table of migratedTables) {
    const { name } = table
    const total = source.countRows(table)
    const progress = progressByTable.get(name)
    let rows = progress?.rows ?? 0
    for await (const count of copyTable(source, target, table, progress)) {
      rows += count
      addedRows += count
      onProgress({ table: name, rows, total, addedRows })
    }
    await target.write((on) => advanceSequence(on, table, source.lastNumber(table)))
  }
  return addedRows
}

/**
 * Calls a function once for each month (UTC) in which calls were logged.
 *
 * @param findNextCallMs returns the time of the first call since a time; undefined: there is none.
 */
export async function forEachLogMonth(
  findNextCallMs: (fromMs: number) => number | undefined | Promise<number | undefined>,
  run: (atMs: number) => Promise<void>,
): Promise<void> {
  for (let fromMs = Number.MIN_SAFE_INTEGER; ;) {
    const atMs = await findNextCallMs(fromMs)
    if (atMs === undefined) return
    await run(atMs)
    const call = new Date(atMs)
    fromMs = Date.UTC(call.getUTCFullYear(), call.getUTCMonth() + 1)
  }
}

/** @yields the number of rows of each added batch. */
async function* copyTable(
  source: MigrationSource,
  target: MigrationTarget,
  table: Table,
  progress: TableProgress | undefined,
): AsyncGenerator<number> {
  let lastKey = progress?.place ?? null
  for (let isLast = progress?.isDone === 1; !isLast;) {
    const previousKey = lastKey
    const rows = source.readBatch(
      table,
      previousKey === null ? undefined : keyFromText(previousKey),
    )
    isLast = rows.length < table.batchRows
    const batch = { rows, isLast, previousKey }
    lastKey = await target.write((on) => insertBatch(on, table, batch))
    yield rows.length
  }
}
