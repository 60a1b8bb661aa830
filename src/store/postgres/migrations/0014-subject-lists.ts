import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/**
 * Lists of subjects by their last change, and by the value of an attribute. A trigger keeps one row per
 * top-level attribute whose value is a text, a boolean or a whole number.
 */
export const subjectLists: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const insertAttributes = (subject: string, from: string): string =>
  `insert into "subjectAttributes" ("galleryId", name, value, "subjectId")
    select ${subject}."galleryId", e.key, e.value #>> '{}', ${subject}."subjectId" from ${from} as e
    where length(e.key) <= 128 and length(e.value #>> '{}') <= 256
      and (json_typeof(e.value) in ('string', 'boolean')
        or json_typeof(e.value) = 'number' and e.value::text ~ '^-?[0-9]{1,15}$')
    on conflict do nothing`

const statements = [
  'create index subjects_by_update on subjects ("galleryId", "updatedAtUtc", "subjectId")',
  `create table "subjectAttributes" (
    "galleryId" ${text} not null,
    name ${text} not null,
    value ${text} not null,
    "subjectId" ${text} not null references subjects ("subjectId") on delete cascade,
    primary key ("galleryId", name, value, "subjectId")
  )`,
  'create index attributes_of_subject on "subjectAttributes" ("subjectId")',
  insertAttributes('subjects', 'subjects cross join lateral json_each(subjects.attributes::json)'),
  'alter table "subjectAttributes" enable row level security',
  'alter table "subjectAttributes" force row level security',
  `create policy "subjectAttributes_of_account" on "subjectAttributes" using (
    (select current_setting('facegate.account', true)) = '*' or
    "galleryId" = any (array(select "galleryId" from galleries
      where "accountId" = (select current_setting('facegate.account', true)))))`,
  `create function "fillAttributes"() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        delete from "subjectAttributes" where "subjectId" = new."subjectId";
      end if;
      ${insertAttributes('new', 'json_each(new.attributes::json)')};
      return null;
    end $$`,
  `create trigger subjects_add_attributes after insert on subjects for each row
    when (new.attributes <> '{}') execute function "fillAttributes"()`,
  `create trigger subjects_change_attributes after update of attributes on subjects for each row
    when (new.attributes <> old.attributes) execute function "fillAttributes"()`,
]
