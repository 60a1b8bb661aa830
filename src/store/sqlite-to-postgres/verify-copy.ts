import type { QueryRunner } from '../postgres/connection/statement.ts'
import { keyOf, rowsToJson, type TableRow } from './table-rows.ts'
import { migratedTables, type MigratedTable } from './migrated-tables.ts'

/** The rows of a filled database that have the keys of these. */
export async function findMatchingRows(
  on: QueryRunner,
  { name, targetKey }: MigratedTable,
  rows: readonly TableRow[],
): Promise<readonly TableRow[]> {
  const wanted = rows.map((row) =>
    Object.fromEntries(targetKey.map((column, at) => [column, keyOf(row, targetKey)[at]])),
  )
  const columns = targetKey.map((column) => `"${column}"`).join(', ')
  const text = `select found.* from json_populate_recordset(null::"${name}", $1) as wanted
    join "${name}" as found using (${columns})`
  return (await on.run({ text, values: [rowsToJson(wanted)] })).rows
}

export async function countRows(on: QueryRunner, { name }: MigratedTable): Promise<number> {
  const { rows } = await on.run({ text: `select count(*) as count from "${name}"` })
  return Number(rows[0]?.['count'])
}

export async function sumMicros(
  on: QueryRunner,
  { name }: MigratedTable,
  column: string,
): Promise<bigint> {
  const text = `select coalesce(sum("${column}"), 0) as "sumMicros" from "${name}"`
  const { rows } = await on.run({ text })
  const sum = rows[0]?.['sumMicros']
  if (typeof sum !== 'bigint') throw new TypeError(`${name} has no sum of ${column}`)
  return sum
}

/** Lets the planner know what the tables hold now. */
export async function updateStatistics(on: QueryRunner): Promise<void> {
  const names = migratedTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `analyze ${names}` })
}
