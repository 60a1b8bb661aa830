import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Marks subjects that need a new key. Existing subjects are marked: earlier versions did not record
 * whether a face was removed.
 */
export const newKeyMarks: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  const column = 'needsNewKey integer not null default 1 check (needsNewKey in (0, 1))'
  await sql.raw(`alter table subjects add column ${column}`).execute(db)
  const index = 'create index subjects_needing_key on subjects (galleryId) where needsNewKey = 1'
  await sql.raw(index).execute(db)
}
