import { sql, type Kysely, type Migration } from 'kysely'

/** Why a call failed and its option parameters, as JSON. Earlier rows and successes have none. */
export const callDetails: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table calls add column detail text').execute(db)
}
