import type { QueryRunner } from '../postgres/connection/kysely-driver.ts'
import { migratedTables, type Table } from './tables.ts'
import type { MigrationSource } from './source.ts'
import { differingColumns, keyOf, keyToText, rowsToJson, type TableRow } from './fill-target.ts'
import type { MigrationTarget } from './target.ts'

/** The comparison of one table in the source and in the target. */
export type TableComparison = {
  readonly table: string
  readonly rows: number
  /** The sum of each column of money in the source. */
  readonly sumsByColumn: ReadonlyMap<string, bigint>
  /** One sentence for each difference, at most `differencesMax` of them. */
  readonly differences: readonly string[]
}

/** The progress of comparing one table. */
export type ComparisonProgress = {
  readonly table: string
  readonly rows: number
  readonly total: number
}

const differencesMax = 5

/** Compares every value of every row in the target with the source. */
export async function compareTables(
  source: MigrationSource,
  target: MigrationTarget,
  onCompared: (progress: ComparisonProgress) => void,
): Promise<readonly TableComparison[]> {
  const comparisons: TableComparison[] = []
  for (const table of migratedTables) {
    const { name } = table
    const total = source.countRows(table)
    const sumsByColumn = source.sumAmounts(table)
    const differences = await compareTotals(target, table, { total, sumsByColumn })
    let rows = 0
    for await (const batch of compareRows(source, target, table)) {
      rows += batch.rows
      differences.push(...batch.differences)
      onCompared({ table: name, rows, total })
      if (differences.length > differencesMax) break
    }
    differences.splice(differencesMax)
    comparisons.push({ table: name, rows: total, sumsByColumn, differences })
  }
  return comparisons
}

type TableTotals = { readonly total: number; readonly sumsByColumn: ReadonlyMap<string, bigint> }

async function compareTotals(
  target: MigrationTarget,
  { name }: Table,
  { total, sumsByColumn }: TableTotals,
): Promise<string[]> {
  const selected = ['count(*) as count']
  for (const column of sumsByColumn.keys())
    selected.push(`coalesce(sum("${column}"), 0) as "${column}"`)
  const text = `select ${selected.join(', ')} from "${name}"`
  const [found = {}] = (await target.read((on) => on.run({ text }))).rows
  const differences: string[] = []
  if (total !== found['count'])
    differences.push(
      `${name} has ${total} rows in the source, ${String(found['count'])} in the target`,
    )
  for (const [column, sum] of sumsByColumn)
    if (sum !== found[column])
      differences.push(
        `the sum of ${name}.${column} is ${sum} in the source, ${String(found[column])} in the target`,
      )
  return differences
}

async function* compareRows(
  source: MigrationSource,
  target: MigrationTarget,
  table: Table,
): AsyncGenerator<{ readonly rows: number; readonly differences: readonly string[] }> {
  const { key, batchRows } = table
  for (let rows: readonly TableRow[] = [], isFirst = true; isFirst || rows.length === batchRows;) {
    const last = rows.at(-1)
    const batch = source.readBatch(table, last && keyOf(last, key))
    const targetRows = await target.read((on) => findMatchingRows(on, table, batch))
    yield { rows: batch.length, differences: rowDifferences(table, batch, targetRows) }
    rows = batch
    isFirst = false
  }
}

/** Finds the target's rows with the keys of the given rows. */
export async function findMatchingRows(
  on: QueryRunner,
  { name, targetKey }: Table,
  rows: readonly TableRow[],
): Promise<readonly TableRow[]> {
  const keys = rows.map((row) =>
    Object.fromEntries(targetKey.map((column) => [column, row[column]])),
  )
  const columns = targetKey.map((column) => `"${column}"`).join(', ')
  const text = `select found.* from json_populate_recordset(null::"${name}", $1) as wanted
    join "${name}" as found using (${columns})`
  return (await on.run({ text, values: [rowsToJson(keys)] })).rows
}

/** Describes which rows differ in which columns. It omits the values, which may be secret. */
export function rowDifferences(
  { name, targetKey }: Table,
  rows: readonly TableRow[],
  targetRows: readonly TableRow[],
): string[] {
  const keyTextOf = (row: TableRow): string => keyToText(keyOf(row, targetKey))
  const targetRowsByKey = new Map(targetRows.map((row) => [keyTextOf(row), row]))
  return rows.flatMap((row) => {
    const key = keyTextOf(row)
    const targetRow = targetRowsByKey.get(key)
    if (!targetRow) return [`${name} ${key} is missing in the target`]
    const columns = differingColumns(row, targetRow)
    return columns.length === 0 ? [] : [`${name} ${key} differs in ${columns.join(', ')}`]
  })
}
