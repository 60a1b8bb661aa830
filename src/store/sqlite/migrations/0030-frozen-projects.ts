import { sql, type Kysely, type Migration } from 'kysely'

/** Whether a project is frozen. Only PostgreSQL sets it, while the account is moved. */
export const frozenProjects: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const column = 'isFrozen integer not null default 0 check (isFrozen in (0, 1))'
  await sql.raw(`alter table projects add column ${column}`).execute(db)
}
