import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/** The text in which a subject is searched. */
export const searchTexts: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`alter table subjects add column "searchText" ${text} not null default ''`)
    .execute(db)
}
