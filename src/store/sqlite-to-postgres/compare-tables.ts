import { countRows, findMatchingRows, sumMicros } from './verify-copy.ts'
import { differingColumns, keyOf, keyToText, type TableRow } from './table-rows.ts'
import type { MigrationSource } from './source.ts'
import { migratedTables, type MigratedTable } from './migrated-tables.ts'
import type { MigrationTarget } from './target.ts'

/** A table here and there. */
export type TableComparison = {
  readonly table: string
  readonly rows: number
  /** The columns of money, each with its sum. */
  readonly sumsByColumn: ReadonlyMap<string, bigint>
  /** What is not the same, one sentence each; no more than a few. */
  readonly differences: readonly string[]
}

/** How far the comparison of one table has come. */
export type ComparisonProgress = {
  readonly table: string
  readonly rows: number
  readonly total: number
}

const differencesMax = 5

/** Holds every value of every row against where it came from. */
export async function compareTables(
  source: MigrationSource,
  target: MigrationTarget,
  onCompared: (compared: ComparisonProgress) => void,
): Promise<readonly TableComparison[]> {
  const comparisons: TableComparison[] = []
  for (const table of migratedTables) {
    const { name } = table
    const total = source.countRows(table)
    const money = source.sumAmounts(table)
    const differences = await compareSums(target, table, { total, money })
    let rows = 0
    for await (const batch of compareRows(source, target, table)) {
      rows += batch.rows
      differences.push(...batch.differences)
      onCompared({ table: name, rows, total })
      if (differences.length > differencesMax) break
    }
    const some = differences.slice(0, differencesMax)
    comparisons.push({ table: name, rows: total, sumsByColumn: money, differences: some })
  }
  return comparisons
}

type TableSums = { readonly total: number; readonly money: ReadonlyMap<string, bigint> }

async function compareSums(
  target: MigrationTarget,
  table: MigratedTable,
  { total, money }: TableSums,
): Promise<string[]> {
  const { name } = table
  const differences: string[] = []
  const totalThere = await target.read((on) => countRows(on, table))
  if (total !== totalThere) differences.push(`${name} has ${total} rows here, ${totalThere} there`)
  for (const [column, sum] of money) {
    const sumThere = await target.read((on) => sumMicros(on, table, column))
    if (sum !== sumThere)
      differences.push(`${name}.${column} sums to ${sum} here, to ${sumThere} there`)
  }
  return differences
}

type ComparedBatch = { readonly rows: number; readonly differences: readonly string[] }

async function* compareRows(
  source: MigrationSource,
  target: MigrationTarget,
  table: MigratedTable,
): AsyncGenerator<ComparedBatch> {
  const { key, batchRows } = table
  for (let rows: readonly TableRow[] = [], isFirst = true; isFirst || rows.length === batchRows;) {
    const last = rows.at(-1)
    const batch = source.readBatch(table, last && keyOf(last, key))
    const there = await target.read((on) => findMatchingRows(on, table, batch))
    yield { rows: batch.length, differences: rowDifferences(table, batch, there) }
    rows = batch
    isFirst = false
  }
}

/** Which rows differ and in what; not the values, which may be secret. */
function rowDifferences(
  { name, targetKey }: MigratedTable,
  rows: readonly TableRow[],
  there: readonly TableRow[],
): string[] {
  const placeOf = (row: TableRow): string => keyToText(keyOf(row, targetKey))
  const byPlace = new Map(there.map((row) => [placeOf(row), row]))
  return rows.flatMap((row) => {
    const place = placeOf(row)
    const other = byPlace.get(place)
    if (!other) return [`${name} ${place} is missing there`]
    const columns = differingColumns(row, other)
    return columns.length === 0 ? [] : [`${name} ${place} differs in ${columns.join(', ')}`]
  })
}
