import { sql, type Kysely, type Migration } from 'kysely'
import { flag } from './columns.ts'

/**
 * Marks subjects that need a new key. Existing subjects are marked, and those that an older server
 * enrolls: earlier versions do not record whether a face was removed.
 */
export const newKeyMarks: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table subjects add column ${flag('needsNewKey', 1)}`).execute(db)
  const index =
    'create index subjects_needing_key on subjects ("galleryId") where "needsNewKey" = 1'
  await sql.raw(index).execute(db)
}
