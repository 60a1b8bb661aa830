import { countRows, sameRows, sumMicros } from './look.ts'
import { differingColumns, keyOf, placeToText, type Row } from './rows.ts'
import type { Source } from './source.ts'
import { movingTables, type MovingTable } from './tables.ts'
import type { Target } from './target.ts'

/** A table here and there. */
export type Comparison = {
  readonly table: string
  readonly rows: number
  /** The columns of money, each with its sum. */
  readonly money: ReadonlyMap<string, bigint>
  /** What is not the same, one sentence each; no more than a few. */
  readonly differences: readonly string[]
}

const differencesMax = 5

/** Holds every value of every row against where it came from. */
export async function compareAll(
  source: Source,
  target: Target,
  onTable: (comparison: Comparison) => void,
): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = []
  for (const table of movingTables) {
    const comparison = await compareTable(source, target, table)
    onTable(comparison)
    comparisons.push(comparison)
  }
  return comparisons
}

async function compareTable(
  source: Source,
  target: Target,
  table: MovingTable,
): Promise<Comparison> {
  const rows = source.count(table)
  const money = source.money(table)
  const there = await target.read((on) => countRows(on, table))
  const differences = rows === there ? [] : [`${table.name} has ${rows} rows here, ${there} there`]
  for (const [column, sum] of money) {
    const sumThere = await target.read((on) => sumMicros(on, table, column))
    if (sum !== sumThere)
      differences.push(`${table.name}.${column} sums to ${sum} here, to ${sumThere} there`)
  }
  for await (const difference of differingRows(source, target, table)) {
    differences.push(difference)
    if (differences.length >= differencesMax) break
  }
  return { table: table.name, rows, money, differences }
}

/** @yields which row differs and in what; not the values, which may be secret. */
async function* differingRows(
  source: Source,
  target: Target,
  table: MovingTable,
): AsyncGenerator<string> {
  const { name, key, targetKey, batchRows } = table
  const nameOf = (row: Row): string => placeToText(keyOf(row, targetKey))
  for (let rows: readonly Row[] = [], isFirst = true; isFirst || rows.length === batchRows;) {
    const last = rows.at(-1)
    rows = source.batch(table, last && keyOf(last, key))
    isFirst = false
    const batch = rows
    const found = await target.read((on) => sameRows(on, table, batch))
    const there = new Map(found.map((row) => [nameOf(row), row]))
    for (const row of rows) {
      const other = there.get(nameOf(row))
      const columns = other ? differingColumns(row, other) : []
      if (!other) yield `${name} ${nameOf(row)} is missing there`
      if (columns.length > 0) yield `${name} ${nameOf(row)} differs in ${columns.join(', ')}`
    }
  }
}
