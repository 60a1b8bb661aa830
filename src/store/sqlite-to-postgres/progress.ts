import type { ConnectionPool } from '../postgres/connection/pool.ts'
import { prepare, type QueryRunner } from '../postgres/connection/statement.ts'
import { transact } from '../postgres/connection/transaction.ts'
import type { TableName } from './migrated-tables.ts'

/**
 * What a database remembers of the move that fills it, in tables that only the move makes: which one
 * it is, how far each table has come, and whether all of it was found to be there.
 */
export type MigrationProgress = {
  readonly migrationId: string
  readonly startedAtUtc: string
  readonly completedAtUtc: string | null
}

/** How far a table has come. */
export type TableProgress = {
  readonly tableName: TableName
  readonly rows: number
  /** See `placeToText`; null: nothing yet. */
  readonly place: string | null
  readonly isDone: 0 | 1
}

const progressExists = prepare<{ readonly isThere: boolean }>(
  `select to_regclass('migration') is not null as "isThere"`,
)
const selectProgress = prepare<MigrationProgress>(
  'select "migrationId", "startedAtUtc", "completedAtUtc" from migration',
)

export async function findProgress(on: QueryRunner): Promise<MigrationProgress | undefined> {
  return (await progressExists.first(on, {}))?.isThere ? selectProgress.first(on, {}) : undefined
}

const createProgressTables = `
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
const insertProgress = prepare(
  'insert into migration ("migrationId", "startedAtUtc") values (:migrationId, :startedAtUtc)',
)
const setCompleted = prepare('update migration set "completedAtUtc" = :completedAtUtc')

export async function createProgress(
  on: QueryRunner,
  mark: Omit<MigrationProgress, 'completedAtUtc'>,
): Promise<void> {
  await on.run({ text: createProgressTables })
  await insertProgress.run(on, mark)
}

export async function completeProgress(on: QueryRunner, completedAtUtc: string): Promise<void> {
  await setCompleted.run(on, { completedAtUtc })
}

const selectTableProgress = prepare<TableProgress>(
  'select "tableName", rows, place, "isDone" from "migrationTables"',
)
const insertTableProgress = prepare(
  `insert into "migrationTables" ("tableName") values (:tableName) on conflict do nothing`,
)
const updateTableProgress = prepare(
  `update "migrationTables" set rows = rows + :rows, place = :place, "isDone" = :isDone
   where "tableName" = :tableName and "isDone" = 0 and place is not distinct from :before`,
)

export async function findTableProgress(
  on: QueryRunner,
): Promise<ReadonlyMap<TableName, TableProgress>> {
  return new Map((await selectTableProgress.all(on, {})).map((mark) => [mark.tableName, mark]))
}

/**
 * Notes that rows were added, in the transaction that adds them.
 *
 * @throws Error when the table is not where this process left it.
 */
export async function advanceTable(
  on: QueryRunner,
  next: TableProgress,
  before: string | null,
): Promise<void> {
  if (before === null) await insertTableProgress.run(on, next)
  if ((await updateTableProgress.run(on, { ...next, before })) !== 1)
    throw new Error(`another process is filling ${next.tableName}`)
}

/**
 * To be asked before a server starts on a database.
 *
 * @throws Error when a move into it has not come to its end.
 */
export async function requireMigrationComplete(pool: ConnectionPool): Promise<void> {
  const mark = await transact(pool, { access: 'read' }, findProgress)
  if (mark && mark.completedAtUtc === null)
    throw new Error(
      `facegate migrate began to fill this database at ${mark.startedAtUtc} and has not finished; ` +
        'run it again until it says that everything is moved',
    )
}
