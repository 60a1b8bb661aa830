import { isLockTimeout } from '../postgres/connection/fault.ts'
import type { QueryRunner } from '../postgres/connection/statement.ts'
import { findMatchingRows, rowDifferences } from '../sqlite-to-postgres/compare-tables.ts'
import { forEachLogMonth } from '../sqlite-to-postgres/copy-tables.ts'
import { insertRows } from '../sqlite-to-postgres/fill-target.ts'
import type { MigrationTarget } from '../sqlite-to-postgres/target.ts'
import type { TableRow } from '../sqlite-to-postgres/table-rows.ts'
import { movedTables, type AccountTable } from '../sqlite-to-postgres/tables.ts'
import { type AccountIds, type RowChanges, adaptRow, ownedBy } from './reserve-ids.ts'

export type AccountCopy = RowChanges & {
  /** A transaction of the source, whose account is frozen. */
  readonly source: QueryRunner
  /** A transaction of the target: it contains all rows, or none. */
  readonly target: QueryRunner
  readonly ids: AccountIds
  readonly onProgress: (progress: AccountCopyProgress) => void
}

export type AccountCopyProgress = {
  readonly step: 'copied' | 'compared'
  readonly table: string
  readonly rows: number
}

export type CopiedTable = { readonly table: string; readonly rows: number }

/** Copies all rows of the account. @returns the number of rows of each table. */
export async function copyAccount(copy: AccountCopy): Promise<readonly CopiedTable[]> {
  const { target, ids, onProgress } = copy
  const copied: CopiedTable[] = []
  for (const table of movedTables) {
    const { name } = table
    const condition = ownedBy(ids, table.column)
    if (table.isFilledByTriggers && condition !== undefined)
      await target.run({ text: `delete from "${name}" where ${condition}` })
    let rows = 0
    for await (const batch of readRows(copy, table)) {
      await insertRows(target, table, batch, Object.keys(batch[0] ?? {}))
      rows += batch.length
      onProgress({ step: 'copied', table: name, rows })
    }
    copied.push({ table: name, rows })
  }
  return copied
}

const differencesMax = 5

/**
 * Reads all rows of the source again and compares every value with the target, and the number of rows.
 *
 * @throws Error that names the differing rows.
 */
export async function requireEqualRows(copy: AccountCopy): Promise<void> {
  const { target, ids, onProgress } = copy
  const differences: string[] = []
  for (const table of movedTables) {
    const { name } = table
    let rows = 0
    for await (const batch of readRows(copy, table)) {
      const found = await findMatchingRows(target, table, batch)
      differences.push(...rowDifferences(table, batch, found))
      rows += batch.length
      onProgress({ step: 'compared', table: name, rows })
    }
    const condition = ownedBy(ids, table.column) ?? 'false'
    const text = `select count(*) as count from "${name}" where ${condition}`
    const count = Number((await target.run({ text })).rows[0]?.['count'])
    if (count !== rows)
      differences.push(`${name} has ${rows} rows in the source, ${count} in the target`)
  }
  if (differences.length > 0)
    throw new Error(
      `the copy differs, so nothing was moved: ${differences.slice(0, differencesMax).join('; ')}`,
    )
}

/** @yields the rows of the account as the target stores them, in batches. */
async function* readRows(
  copy: AccountCopy,
  table: AccountTable,
): AsyncGenerator<readonly TableRow[]> {
  const { source, ids } = copy
  const condition = ownedBy(ids, table.column)
  if (condition === undefined) return
  const order = table.key.map((column) => `"${column}"`).join(', ')
  await source.run({
    text: `declare "accountRows" no scroll cursor for
      select * from "${table.name}" where ${condition} order by ${order}`,
  })
  for (let isLast = false; !isLast;) {
    const { rows } = await source.run({ text: `fetch ${table.batchRows} from "accountRows"` })
    isLast = rows.length < table.batchRows
    if (rows.length > 0) yield rows.map((row) => adaptRow(table, row, copy))
  }
  await source.run({ text: 'close "accountRows"' })
}

const selectNextCall = (condition: string) =>
  `select min("atMs") as "atMs" from calls where "atMs" >= $1 and ${condition}`

/** Creates the partitions of the request log for the months in which the account has calls. */
export async function createLogMonths(
  source: QueryRunner,
  target: MigrationTarget,
  ids: AccountIds,
): Promise<void> {
  const condition = ownedBy(ids, 'projectId')
  if (condition === undefined) return
  const findNextCallMs = async (fromMs: number): Promise<number | undefined> => {
    const { rows } = await source.run({ text: selectNextCall(condition), values: [fromMs] })
    const atMs = rows[0]?.['atMs']
    return typeof atMs === 'number' ? atMs : undefined
  }
  await forEachLogMonth(findNextCallMs, (atMs) => createLogMonth(target, atMs))
}

const triesMax = 50

/** Repeats it while the calls of the target's servers prevent the lock. */
async function createLogMonth(target: MigrationTarget, atMs: number): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await target.createLogPartition(atMs)
    } catch (error) {
      const isBusy = error instanceof Error && isLockTimeout(error.cause)
      if (!isBusy || tries === triesMax) throw error
    }
}
