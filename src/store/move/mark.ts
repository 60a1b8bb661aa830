import type { Pool } from '../postgres/pool.ts'
import { prepare, type Runner } from '../postgres/statement.ts'
import { transact } from '../postgres/transaction.ts'
import type { TableName } from './tables.ts'

/**
 * What a database remembers of the move that fills it, in tables that only the move makes: which one
 * it is, how far each table has come, and whether all of it was found to be there.
 */
export type Mark = {
  readonly migrationId: string
  readonly startedAtUtc: string
  readonly completedAtUtc: string | null
}

/** How far a table has come. */
export type TableMark = {
  readonly tableName: TableName
  readonly rows: number
  /** See `placeToText`; null: nothing yet. */
  readonly place: string | null
  readonly isDone: 0 | 1
}

const isThere = prepare<{ readonly isThere: boolean }>(
  `select to_regclass('migration') is not null as "isThere"`,
)
const find = prepare<Mark>('select "migrationId", "startedAtUtc", "completedAtUtc" from migration')

export async function findMark(on: Runner): Promise<Mark | undefined> {
  return (await isThere.first(on, {}))?.isThere ? find.first(on, {}) : undefined
}

const tables = `
  create table migration (
    "migrationId" text primary key,
    "startedAtUtc" text not null,
    "completedAtUtc" text
  );
  create table "migrationTables" (
    "tableName" text primary key,
    rows bigint not null default 0,
    place text,
    "isDone" integer not null default 0
  )`
const begin = prepare(
  'insert into migration ("migrationId", "startedAtUtc") values (:migrationId, :startedAtUtc)',
)
const complete = prepare('update migration set "completedAtUtc" = :completedAtUtc')

export async function makeMark(on: Runner, mark: Omit<Mark, 'completedAtUtc'>): Promise<void> {
  await on.run({ text: tables })
  await begin.run(on, mark)
}

export async function completeMark(on: Runner, completedAtUtc: string): Promise<void> {
  await complete.run(on, { completedAtUtc })
}

const tableMarks = prepare<TableMark>(
  'select "tableName", rows, place, "isDone" from "migrationTables"',
)
const startTable = prepare(
  `insert into "migrationTables" ("tableName") values (:tableName) on conflict do nothing`,
)
const advance = prepare(
  `update "migrationTables" set rows = rows + :rows, place = :place, "isDone" = :isDone
   where "tableName" = :tableName and "isDone" = 0 and place is not distinct from :before`,
)

export async function findTableMarks(on: Runner): Promise<ReadonlyMap<TableName, TableMark>> {
  return new Map((await tableMarks.all(on, {})).map((mark) => [mark.tableName, mark]))
}

/**
 * Notes that rows were added, in the transaction that adds them.
 *
 * @throws Error when the table is not where this process left it.
 */
export async function advanceTable(
  on: Runner,
  next: TableMark,
  before: string | null,
): Promise<void> {
  if (before === null) await startTable.run(on, next)
  if ((await advance.run(on, { ...next, before })) !== 1)
    throw new Error(`another process is filling ${next.tableName}`)
}

/**
 * To be asked before a server starts on a database.
 *
 * @throws Error when a move into it has not come to its end.
 */
export async function refuseUnfinished(pool: Pool): Promise<void> {
  const mark = await transact(pool, { begin: 'read' }, findMark)
  if (mark && mark.completedAtUtc === null)
    throw new Error(
      `facegate migrate began to fill this database at ${mark.startedAtUtc} and has not finished; ` +
        'run it again until it says that everything is moved',
    )
}
