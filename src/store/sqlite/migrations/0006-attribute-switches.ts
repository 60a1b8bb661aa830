import { sql, type Kysely, type Migration } from 'kysely'

/** Whether a project's calls return gender and expression; the law may forbid both. */
export const attributeSwitches: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of ['gender', 'expression']) {
    const column = `${name} integer not null default 1 check (${name} in (0, 1))`
    await sql.raw(`alter table projects add column ${column}`).execute(db)
  }
}
