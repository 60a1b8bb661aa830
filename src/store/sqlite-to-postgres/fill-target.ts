import { isDeepStrictEqual } from 'node:util'
import { unpackLatencies } from '../../lib/observability/latency-histogram.ts'
import { type QueryRunner, prepare } from '../postgres/connection/kysely-driver.ts'
import { lockSchema, requireUtf8 } from '../postgres/migrate-schema.ts'
import { advanceTable, createProgress, findProgress } from './progress.ts'
import { type Table, migratedTables } from './tables.ts'

type RowBatch = {
  readonly rows: readonly TableRow[]
  /** Whether no rows follow. */
  readonly isLast: boolean
  /** The key of the previous batch's last row; null: this is the first batch. */
  readonly previousKey: string | null
}

/** The oldest supported version of PostgreSQL. */
const versionMin = 15

const selectCapabilities = prepare<{
  readonly version: number
  readonly schema: string | null
  readonly database: string
  readonly role: string
  readonly canCreate: boolean | null
}>(
  `select current_setting('server_version_num')::integer / 10000 as version,
     current_schema() as schema, current_database() as database, current_user as role,
     has_schema_privilege(current_schema(), 'create') as "canCreate"`,
)

/** @throws Error if the server is too old, its encoding not UTF8, or no table can be created. */
export async function requireUsableServer(on: QueryRunner): Promise<void> {
  const capabilities = await selectCapabilities.first(on, {})
  if (!capabilities) throw new Error('the database returned no description of itself')
  const { version, schema, database, role, canCreate } = capabilities
  if (version < versionMin)
    throw new Error(`the server is PostgreSQL ${version}; it must be ${versionMin} or newer`)
  await requireUtf8(on)
  if (schema === null || !canCreate)
    throw new Error(
      `the role ${role} may not create tables in ${schema ?? 'any schema'} of ${database}; ` +
        `make it the owner: alter database ${database} owner to ${role}`,
    )
}

/** All tables except those of extensions. */
const selectTables = prepare<{ readonly name: string }>(
  `select relname as name from pg_class
   where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
     and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
   order by relname`,
)

/**
 * Records in an empty database that this migration fills it. It changes nothing if that is recorded
 * already.
 *
 * @throws Error as `requireEmptyTarget` does.
 */
export async function beginMigration(
  on: QueryRunner,
  migration: { readonly migrationId: string; readonly startedAtUtc: string },
): Promise<void> {
  await lockSchema.run(on, {})
  await requireEmptyTarget(on, migration.migrationId)
  if (!(await findProgress(on))) await createProgress(on, migration)
}

/**
 * Requires a database without tables, or one of the current schema without rows.
 *
 * @throws Error if it is not empty, unless the same migration began to fill it.
 */
export async function requireEmptyTarget(on: QueryRunner, migrationId: string): Promise<void> {
  const progress = await findProgress(on)
  if (progress?.migrationId === migrationId) return
  if (progress)
    throw new Error(
      `another migration into this database began at ${progress.startedAtUtc}, or this one began ` +
        'with an older state of the source; name an empty database',
    )
  const names = new Set((await selectTables.all(on, {})).map(({ name }) => name))
  if (names.size === 0) return
  const [first = ''] = names
  const tables = names.size === 1 ? `a table ${first}` : `${names.size} tables, including ${first}`
  if (!migratedTables.every(({ name }) => names.has(name)))
    throw new Error(`the database is not empty: it has ${tables}; name an empty one`)
  for (const { name } of migratedTables) {
    const { rows } = await on.run({ text: `select from "${name}" limit 1` })
    if (rows.length > 0)
      throw new Error(
        `the database is not empty: a server used it and ${name} has rows; name an empty one`,
      )
  }
}

/** Inserts rows and records the table's progress. @returns the key of the last row as text. */
export async function insertBatch(
  on: QueryRunner,
  table: Table,
  { rows, isLast, previousKey }: RowBatch,
): Promise<string | null> {
  const { name, key, isFilledByTriggers = false } = table
  const last = rows.at(-1)
  if (isFilledByTriggers && previousKey === null) await on.run({ text: `delete from "${name}"` })
  if (last) await insertRows(on, table, rows, Object.keys(last))
  const lastKey = last ? keyToText(keyOf(last, key)) : previousKey
  const isDone = isLast ? 1 : 0
  const progress = { tableName: name, rows: rows.length, place: lastKey, isDone } as const
  await advanceTable(on, progress, previousKey)
  return lastKey
}

/**
 * Inserts rows. COPY would be faster, but it cannot write to tables with row-level security.
 *
 * @throws Error if not all rows were inserted.
 */
export async function insertRows(
  on: QueryRunner,
  { name }: Pick<Table, 'name'>,
  rows: readonly TableRow[],
  columns: readonly string[],
): Promise<void> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  const text = `insert into "${name}" (${list})
    select ${list} from json_populate_recordset(null::"${name}", $1)`
  const { count } = await on.run({ text, values: [rowsToJson(rows)] })
  if (count !== rows.length) throw new Error(`${name} accepted ${count} of ${rows.length} rows`)
}

/** Sets the sequence of a table to continue after the source's last number. */
export async function advanceSequence(on: QueryRunner, { sequence }: Table, last: number) {
  if (sequence === undefined) return
  const text = `select setval(${sequence}, greatest($1::bigint, 1), $1::bigint > 0)`
  await on.run({ text, values: [last] })
}

/** Updates the planner's statistics of all tables. */
export async function updateStatistics(on: QueryRunner): Promise<void> {
  const names = migratedTables.map(({ name }) => `"${name}"`).join(', ')
  await on.run({ text: `analyze ${names}` })
}

/** A row in the format of both engines: text, numbers, money as bigint, bytes, null. */
export type TableRow = Readonly<Record<string, unknown>>

/** The values of a row's key columns. */
export type KeyValues = readonly unknown[]

/** The column is an array in PostgreSQL and packed bytes in SQLite. */
const histogramColumn = 'latencies'

/**
 * Converts rows to JSON for `json_populate_recordset`, which converts each value to the type of its
 * column.
 *
 * @throws Error for text with a NUL character.
 */
export function rowsToJson(rows: readonly TableRow[]): string {
  return JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toJson(name, value)])),
    ),
  )
}

function toJson(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array)
    return name === histogramColumn ? [...unpackLatencies(value)] : `\\x${hexOf(value)}`
  if (typeof value === 'string' && value.includes('\0'))
    throw new Error(`a ${name} contains a NUL character, which PostgreSQL cannot store`)
  return value
}

const hexOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex')

export function keyToText(key: KeyValues): string {
  return JSON.stringify(
    key.map((value) => (value instanceof Uint8Array ? { hex: hexOf(value) } : value)),
  )
}

/** @param text the result of `keyToText`. */
export function keyFromText(text: string): KeyValues {
  const values = JSON.parse(text) as (string | number | { readonly hex: string })[]
  return values.map((value) => (typeof value === 'object' ? Buffer.from(value.hex, 'hex') : value))
}

export function keyOf(row: TableRow, columns: readonly string[]): KeyValues {
  return columns.map((column) => row[column])
}

/** Returns the names of the columns in which two rows differ. */
export function differingColumns(row: TableRow, other: TableRow): string[] {
  return Object.keys(row).filter((name) => !isSame(row[name], other[name]))
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  return isDeepStrictEqual(a, b)
}
