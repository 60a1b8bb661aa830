import { prepare, type QueryRunner } from '../postgres/connection/statement.ts'
import { advanceTable, findProgress, createProgress } from './progress.ts'
import { keyOf, keyToText, rowsToJson, type TableRow } from './table-rows.ts'
import { migratedTables, type MigratedTable } from './migrated-tables.ts'

export type RowBatch = {
  readonly rows: readonly TableRow[]
  /** Whether no rows come behind it. */
  readonly isLast: boolean
  /** Where the table was before; null: at its beginning. */
  readonly before: string | null
}

/** The oldest PostgreSQL that the service works on. */
const versionMin = 15

type ServerCapabilities = {
  readonly version: number
  readonly schema: string | null
  readonly database: string
  readonly role: string
  readonly mayCreate: boolean | null
}

const serverCapabilities = prepare<ServerCapabilities>(
  `select current_setting('server_version_num')::integer / 10000 as version,
     current_schema() as schema, current_database() as database, current_user as role,
     has_schema_privilege(current_schema(), 'create') as "mayCreate"`,
)

/** @throws Error when the schema cannot be made there. */
export async function requireUsableServer(on: QueryRunner): Promise<void> {
  const found = await serverCapabilities.first(on, {})
  if (!found) throw new Error('the database says nothing of itself')
  const { version, schema, database, role, mayCreate } = found
  if (version < versionMin)
    throw new Error(`the server is PostgreSQL ${version}; it must be ${versionMin} or newer`)
  if (schema === null || !mayCreate)
    throw new Error(
      `the role ${role} may not make tables in ${schema ?? 'any schema'} of ${database}; ` +
        `make it the owner: alter database ${database} owner to ${role}`,
    )
}

const lockSchema = prepare(`select pg_advisory_xact_lock(hashtextextended('schema', 0))`)

/** Tables that nothing but an extension has made. */
const existingTables = prepare<{ readonly name: string }>(
  `select relname as name from pg_class
   where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
     and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
   order by relname`,
)

/**
 * Marks an empty database as one that this move fills; one that is marked so already stays as it is.
 *
 * @throws Error as `requireFillable` does.
 */
export async function beginMigration(
  on: QueryRunner,
  move: { readonly migrationId: string; readonly startedAtUtc: string },
): Promise<void> {
  await lockSchema.run(on, {})
  await requireEmptyTarget(on, move.migrationId)
  if (!(await findProgress(on))) await createProgress(on, move)
}

/**
 * A database of the current schema without a row is as good as one without a table.
 *
 * @throws Error when it is not empty, unless this very move has begun to fill it.
 */
export async function requireEmptyTarget(on: QueryRunner, migrationId: string): Promise<void> {
  const mark = await findProgress(on)
  if (mark?.migrationId === migrationId) return
  if (mark)
    throw new Error(
      `another move into this database began at ${mark.startedAtUtc}, or this one of an older state ` +
        'of the source; name an empty database',
    )
  const names = new Set((await existingTables.all(on, {})).map(({ name }) => name))
  if (names.size === 0) return
  const [first = ''] = names
  if (!migratedTables.every(({ name }) => names.has(name)))
    throw new Error(`the database is not empty: it has ${tableSummary(names.size, first)}`)
  for (const { name } of migratedTables) {
    const { rows } = await on.run({ text: `select from "${name}" limit 1` })
    if (rows.length > 0)
      throw new Error(`the database is not empty: a server has worked on it, ${name} has rows`)
  }
}

function tableSummary(count: number, first: string): string {
  return count === 1 ? `a table ${first}` : `${count} tables, ${first} among them`
}

/** Adds rows and notes how far the table has come. @returns where it is now. */
export async function insertBatch(
  on: QueryRunner,
  table: MigratedTable,
  { rows, isLast, before }: RowBatch,
): Promise<string | null> {
  const { name, key } = table
  const last = rows.at(-1)
  if (last) await insertRows(on, table, rows, Object.keys(last))
  const place = last ? keyToText(keyOf(last, key)) : before
  const isDone = isLast ? 1 : 0
  await advanceTable(on, { tableName: name, rows: rows.length, place, isDone }, before)
  return place
}

/**
 * COPY would be quicker, but does not write to tables with row-level security.
 *
 * @throws Error when a row was not added.
 */
async function insertRows(
  on: QueryRunner,
  { name }: MigratedTable,
  rows: readonly TableRow[],
  columns: readonly string[],
): Promise<void> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  // A project is given its bucket when it is made; the one that moves takes its place.
  const conflict =
    name === 'buckets'
      ? ' on conflict ("projectId") do update set "fullAtUs" = excluded."fullAtUs"'
      : ''
  const text = `insert into "${name}" (${list})
    select ${list} from json_populate_recordset(null::"${name}", $1)${conflict}`
  const { count } = await on.run({ text, values: [rowsToJson(rows)] })
  if (count !== rows.length) throw new Error(`${name} took ${count} of ${rows.length} rows`)
}

/** Lets the numbers of a table go on behind the last that the source has given. */
export async function advanceSequence(
  on: QueryRunner,
  { identity: numbered }: MigratedTable,
  last: number,
): Promise<void> {
  if (!numbered) return
  const text = `select setval(${numbered.sequence}, greatest($1::bigint, 1), $1::bigint > 0)`
  await on.run({ text, values: [last] })
}
