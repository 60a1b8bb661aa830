import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/**
 * The text in which a subject is searched. Null: it must be computed, by `fillSearchTexts`. A server of
 * an earlier version writes names without it, so a trigger removes a text that is out of date.
 */
export const searchTexts: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table subjects add column "searchText" ${text}`,
  `create index subjects_without_text on subjects ("subjectId") where "searchText" is null`,
  `create function "clearSearchText"() returns trigger language plpgsql as $$
    begin
      if new."searchText" is not distinct from old."searchText" then
        new."searchText" := null;
      end if;
      return new;
    end $$`,
  `create trigger subjects_clear_text before update on subjects for each row
    when (old."displayName" is distinct from new."displayName"
      or old."externalId" is distinct from new."externalId")
    execute function "clearSearchText"()`,
]
