import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Why a call failed and its option parameters, as JSON; earlier rows and successes have none. The index
 * finds the latest failures.
 */
export const callDetails: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table calls add column detail text').execute(db)
  const index = `create index calls_failed_by_time on calls (atMs) where code <> 'OK'`
  await sql.raw(index).execute(db)
}
