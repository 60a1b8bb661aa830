import type { ConnectionPool } from '../postgres/connection/pool.ts'
import { prepare, type QueryRunner } from '../postgres/connection/kysely-driver.ts'
import { transact } from '../postgres/connection/transaction.ts'
import type { MigrationMarker } from '../sqlite/migration-marker.ts'
import type { TableName } from './tables.ts'

/**
 * The record of a migration in its target database. The migration creates its tables, which also
 * contain the progress of each table. `completedAtUtc` is set after all rows were compared.
 */
export type MigrationProgress = Omit<MigrationMarker, 'to'>

/** The progress of copying one table. */
export type TableProgress = {
  readonly tableName: TableName
  readonly rows: number
  /** The key of the last copied row, see `keyToText`; null: no row was copied. */
  readonly place: string | null
  readonly isDone: 0 | 1
}

const selectHasProgress = prepare<{ readonly hasProgress: boolean }>(
  `select to_regclass('migration') is not null as "hasProgress"`,
)
const selectProgress = prepare<MigrationProgress>(
  'select "migrationId", "startedAtUtc", "completedAtUtc" from migration',
)

export async function findProgress(on: QueryRunner): Promise<MigrationProgress | undefined> {
  const hasProgress = (await selectHasProgress.first(on, {}))?.hasProgress
  return hasProgress ? selectProgress.first(on, {}) : undefined
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
export const completeProgress = prepare('update migration set "completedAtUtc" = :completedAtUtc')

export async function createProgress(
  on: QueryRunner,
  migration: Omit<MigrationProgress, 'completedAtUtc'>,
): Promise<void> {
  await on.run({ text: createProgressTables })
  await insertProgress.run(on, migration)
}

const selectTableProgress = prepare<TableProgress>(
  'select "tableName", rows, place, "isDone" from "migrationTables"',
)
const insertTableProgress = prepare(
  `insert into "migrationTables" ("tableName") values (:tableName) on conflict do nothing`,
)
const updateTableProgress = prepare(
  `update "migrationTables" set rows = rows + :rows, place = :place, "isDone" = :isDone
   where "tableName" = :tableName and "isDone" = 0 and place is not distinct from :previousKey`,
)

export async function findTableProgress(on: QueryRunner) {
  const rows = await selectTableProgress.all(on, {})
  return new Map(rows.map((progress) => [progress.tableName, progress]))
}

/**
 * Records inserted rows, in the transaction that inserts them.
 *
 * @throws Error if the recorded progress differs from that of this process.
 */
export async function advanceTable(
  on: QueryRunner,
  progress: TableProgress,
  previousKey: string | null,
): Promise<void> {
  if (previousKey === null) await insertTableProgress.run(on, progress)
  if ((await updateTableProgress.run(on, { ...progress, previousKey })) !== 1)
    throw new Error(`another process is filling ${progress.tableName}; stop it first`)
}

/**
 * Refuses a database whose migration is not complete. A server must not start on it.
 *
 * @throws Error if the migration is not complete.
 */
export async function requireMigrationComplete(pool: ConnectionPool): Promise<void> {
  const progress = await transact(pool, { access: 'read' }, findProgress)
  if (progress && progress.completedAtUtc === null)
    throw new Error(
      `facegate migrate began to fill this database at ${progress.startedAtUtc} and has not ` +
        'finished; run it again until it reports that the migration is complete',
    )
}
