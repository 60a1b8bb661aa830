import { insertBatch, advanceSequence } from './fill-target.ts'
import { findTableProgress, type TableProgress } from './progress.ts'
import { keyFromText } from './table-rows.ts'
import type { MigrationSource } from './source.ts'
import { migratedTables, type Table } from './tables.ts'
import type { MigrationTarget } from './target.ts'

/** The progress of copying one table. */
export type CopyProgress = {
  readonly table: string
  readonly rows: number
  readonly total: number
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
  await createLogPartitions(source, target)
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
    await target.write((on) => advanceSequence(on, table, source.lastIdentity(table)))
  }
  return addedRows
}

/** Creates a partition of the request log for each month that has rows. */
async function createLogPartitions(
  source: MigrationSource,
  target: MigrationTarget,
): Promise<void> {
  let atMs = source.findNextCallMs(Number.MIN_SAFE_INTEGER)
  while (atMs !== undefined) {
    await target.createLogPartition(atMs)
    const call = new Date(atMs)
    atMs = source.findNextCallMs(Date.UTC(call.getUTCFullYear(), call.getUTCMonth() + 1))
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
