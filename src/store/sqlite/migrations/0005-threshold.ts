import { sql, type Kysely, type Migration } from 'kysely'

/** A project's minimum similarity of a match of svc.identify. */
export const threshold: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const column = 'identifyThreshold real check (identifyThreshold between 0 and 1)'
  await sql.raw(`alter table projects add column ${column}`).execute(db)
}
