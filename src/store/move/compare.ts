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

/** How far the comparison of one table has come. */
export type Compared = { readonly table: string; readonly rows: number; readonly total: number }

const differencesMax = 5

/** Holds every value of every row against where it came from. */
export async function compareAll(
  source: Source,
  target: Target,
  onCompared: (compared: Compared) => void,
): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = []
  for (const table of movingTables) {
    const { name } = table
    const total = source.count(table)
    const money = source.money(table)
    const differences = await differingSums(target, table, { total, money })
    let rows = 0
    for await (const batch of differingRows(source, target, table)) {
      rows += batch.rows
      differences.push(...batch.differences)
      onCompared({ table: name, rows, total })
      if (differences.length > differencesMax) break
    }
    const some = differences.slice(0, differencesMax)
    comparisons.push({ table: name, rows: total, money, differences: some })
  }
  return comparisons
}

type Sums = { readonly total: number; readonly money: ReadonlyMap<string, bigint> }

async function differingSums(
  target: Target,
  table: MovingTable,
  { total, money }: Sums,
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

async function* differingRows(
  source: Source,
  target: Target,
  table: MovingTable,
): AsyncGenerator<ComparedBatch> {
  const { key, batchRows } = table
  for (let rows: readonly Row[] = [], isFirst = true; isFirst || rows.length === batchRows;) {
    const last = rows.at(-1)
    const batch = source.batch(table, last && keyOf(last, key))
    const there = await target.read((on) => sameRows(on, table, batch))
    yield { rows: batch.length, differences: differencesOf(table, batch, there) }
    rows = batch
    isFirst = false
  }
}

/** Which rows differ and in what; not the values, which may be secret. */
function differencesOf(
  { name, targetKey }: MovingTable,
  rows: readonly Row[],
  there: readonly Row[],
): string[] {
  const placeOf = (row: Row): string => placeToText(keyOf(row, targetKey))
  const byPlace = new Map(there.map((row) => [placeOf(row), row]))
  return rows.flatMap((row) => {
    const place = placeOf(row)
    const other = byPlace.get(place)
    if (!other) return [`${name} ${place} is missing there`]
    const columns = differingColumns(row, other)
    return columns.length === 0 ? [] : [`${name} ${place} differs in ${columns.join(', ')}`]
  })
}
