import type { Runner } from '../postgres/statement.ts'
import { keyOf, rowsToJson, type Row } from './rows.ts'
import { movingTables, type MovingTable } from './tables.ts'

/** The rows of a filled database that have the keys of these. */
export async function sameRows(
  on: Runner,
  { name, targetKey }: MovingTable,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const wanted = rows.map((row) =>
    Object.fromEntries(targetKey.map((column, at) => [column, keyOf(row, targetKey)[at]])),
  )
  const columns = targetKey.map((column) => `"${column}"`).join(', ')
  const text = `select found.* from json_populate_recordset(null::"${name}", $1) as wanted
    join "${name}" as found using (${columns})`
  return (await on.run({ text, values: [rowsToJson(wanted)] })).rows
}

export async function countRows(on: Runner, { name }: MovingTable): Promise<number> {
  const { rows } = await on.run({ text: `select count(*) as count from "${name}"` })
  return Number(rows[0]?.['count'])
}

export async function sumMicros(
  on: Runner,
  { name }: MovingTable,
  column: string,
): Promise<bigint> {
  const text = `select coalesce(sum("${column}"), 0) as "sumMicros" from "${name}"`
  const { rows } = await on.run({ text })
  const sum = rows[0]?.['sumMicros']
  if (typeof sum !== 'bigint') throw new TypeError(`${name} has no sum of ${column}`)
  return sum
}

/** Lets the planner know what the tables hold now. */
export async function analyze(on: Runner): Promise<void> {
  const names = movingTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `analyze ${names}` })
}
