import { sql, type Kysely, type Migration } from 'kysely'

/** From which similarity on svc.identify names people, where a project wants its own. */
export const threshold: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const column = 'identifyThreshold real check (identifyThreshold between 0 and 1)'
  await sql.raw(`alter table projects add column ${column}`).execute(db)
}
